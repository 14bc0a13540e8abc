# What is open here: events that no producer function wrote, and the versions that schemas have left.
module "status" {
  source = "../modules/status"

  bucket = module.rejected_events.bucket
  platform = {
    account_id = var.account_id
    partition  = data.aws_partition.this.partition
    prefix     = var.prefix
    region     = var.region
    alarms     = { topic_arn = module.alarms.topic_arn }
    functions  = var.functions
    network    = { egress = local.job_egress, subnet_ids = values(module.network.workload_subnet_ids), vpc_id = module.network.vpc_id }
    retention  = var.retention
  }
  producers = {
    for name, producer in local.producers : name => {
      function       = producer.function
      policy         = producer.policy
      registry       = { secret_arn = try(producer.registry.secret_arn, null), url = local.producer_environments[name].PENSTOCK_REGISTRY }
      schema         = producer.schema
      version_budget = producer.version_budget
    }
  }
  status = var.status

  permissions_boundary = var.permissions_boundary
}
