# What extensions of this account take (infra/extensions). This root knows none of them: a file extensions.tf beside
# this one, which is the user's own, calls them with local.platform.
locals {
  interface_endpoints = setunion(
    ["glue"],
    anytrue([for producer in values(local.producers) : try(producer.registry.secret_arn, null) != null]) ? ["secretsmanager"] : [],
    # Spark's workers write their log from the VPC, and jobs read their parameters.
    length(var.jobs) > 0 ? ["logs"] : [],
    length(local.hosts) > 0 ? ["ssm", "ssmmessages"] : length(var.jobs) > 0 ? ["ssm"] : [],
    var.network.interface_endpoints,
  )

  # A serverless cluster has none of a broker.
  broker_metrics = var.cluster.type != "provisioned" ? null : {
    broker_count = module.broker_cluster.broker_count
    name         = module.broker_cluster.name
    per_broker   = coalesce(var.cluster.enhanced_monitoring, "DEFAULT") != "DEFAULT"
  }

  platform = {
    account_id           = var.account_id
    partition            = local._partition
    permissions_boundary = var.permissions_boundary
    prefix               = var.prefix
    region               = var.region

    alarms = { topic_arn = module.alarms.topic_arn }
    brokers = {
      bootstrap_servers = module.broker_cluster.bootstrap_servers.iam
      metrics           = local.broker_metrics
      name              = module.broker_cluster.name
      security_group_id = module.broker_cluster.security_group_id
      topics            = keys(var.topics)
    }
    functions = {
      access = module.kafka_access.function_name
      producers = {
        for name, producer in local.producers : name => {
          dead_letter_queue = module.producer[name].dead_letter_queue.name
          function          = producer.function
          schema            = producer.schema
        }
      }
    }
    network = {
      endpoint_security_group_ids = module.network.endpoint_security_group_ids
      interface_endpoints         = setunion(local.interface_endpoints, try(keys(var.network.existing.interface_endpoints), []))
      subnet_ids                  = values(module.network.workload_subnet_ids)
      vpc_id                      = module.network.vpc_id
    }
    retention = { for name in ["force_destroy", "key_deletion_days", "log_days", "secret_recovery_days"] : name => var.retention[name] }
  }
}
