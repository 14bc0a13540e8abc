# A cluster of EMR on EC2 for jobs of the platform and of other extensions, with the arguments, artifacts and rights that
# they have there.
locals {
  _all = merge({ for name, job in var.platform.jobs == null ? {} : var.platform.jobs.named : name => merge(job, { parameters_path = null }) }, var.jobs_of_others)
  jobs = { for name in var.jobs : name => local._all[name] if contains(keys(local._all), name) }

  ways_in = { for name in setintersection(keys(var.platform.network.egress), ["brokers", "endpoints"]) : name => var.platform.network.egress[name] if var.platform.network.egress[name].cidr == null }
}

module "cluster" {
  source = "../../modules/emr-cluster"

  prefix     = var.platform.prefix
  account_id = var.platform.account_id
  region     = var.platform.region
  artifacts = {
    archives      = values(var.platform.jobs.artifacts.archives)
    archives_hash = var.platform.jobs.artifacts.archives_hash
    bucket        = var.platform.jobs.artifacts_bucket.name
    configuration = var.platform.jobs.artifacts.configuration
    jars          = var.platform.jobs.artifacts.jars
    pyfiles       = var.platform.jobs.artifacts.pyfiles
  }
  cluster = var.cluster
  network = {
    # An existing VPC may have one.
    endpoint  = !contains(var.platform.network.interface_endpoints, "emr-service-cell01")
    vpc_id    = var.platform.network.vpc_id
    subnet_id = var.platform.network.subnet_ids[0]
    egress    = var.platform.network.egress
  }
  parameters_path = anytrue([for job in values(local.jobs) : job.parameters_path != null]) ? "/${var.platform.prefix}" : null
  policies        = merge(values(local.jobs)[*].policies...)
  retention       = var.platform.retention
  runs            = { for name, run in merge(values(local.jobs)[*].runs...) : name => { arguments = run.arguments, program = run.program } }
  topic_arn       = var.platform.alarms.topic_arn

  permissions_boundary = var.platform.permissions_boundary
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.ways_in

  security_group_id            = each.value.security_group_id
  description                  = "${each.key == "brokers" ? "Kafka" : "HTTPS"} from emr_cluster"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  referenced_security_group_id = module.cluster.security_group_id
}
