# A cluster of EMR on EC2 for jobs of the platform and of other extensions, with the arguments, artifacts and rights that
# they have there.
locals {
  _all = merge({ for name, job in var.platform.jobs == null ? {} : var.platform.jobs.named : name => merge(job, { parameters_path = null }) }, var.jobs_of_others)
  jobs = { for name in var.jobs : name => local._all[name] if contains(keys(local._all), name) }

  name    = "${var.platform.prefix}-step-ended"
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
    vpc_id    = var.platform.network.vpc_id
    subnet_id = var.platform.network.subnet_ids[0]
    egress    = var.platform.network.egress
  }
  parameters_path = anytrue([for job in values(local.jobs) : job.parameters_path != null]) ? "/${var.platform.prefix}" : null
  policies        = merge(values(local.jobs)[*].policies...)
  retention       = var.platform.retention
  runs            = { for name, run in merge(values(local.jobs)[*].runs...) : name => { arguments = run.arguments, program = run.program } }

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

resource "aws_cloudwatch_event_rule" "this" {
  name        = local.name
  description = "Steps of clusters of EMR that failed, were cancelled or interrupted"
  event_pattern = jsonencode({
    source      = ["aws.emr"]
    detail-type = ["EMR Step Status Change"]
    detail      = { clusterId = [module.cluster.cluster.id], state = ["FAILED", "CANCELLED", "INTERRUPTED"] }
  })
}

resource "aws_cloudwatch_event_target" "this" {
  arn  = var.platform.alarms.topic_arn
  rule = aws_cloudwatch_event_rule.this.name

  input_transformer {
    input_paths    = { cluster = "$.detail.clusterId", name = "$.detail.name", state = "$.detail.state", step = "$.detail.stepId" }
    input_template = "\"The step <step> (<name>) of the cluster <cluster> is <state>. Read its log on S3 in <cluster>/steps/<step>/, fix the cause, and submit it again by its submit command.\""
  }
}

resource "aws_cloudwatch_event_rule" "cluster" {
  name        = "${var.platform.prefix}-cluster-ended"
  description = "Clusters of EMR that ended with errors"
  event_pattern = jsonencode({
    source      = ["aws.emr"]
    detail-type = ["EMR Cluster State Change"]
    detail      = { clusterId = [module.cluster.cluster.id], state = ["TERMINATED_WITH_ERRORS"] }
  })
}

resource "aws_cloudwatch_event_target" "cluster" {
  arn  = var.platform.alarms.topic_arn
  rule = aws_cloudwatch_event_rule.cluster.name

  input_transformer {
    input_paths    = { cluster = "$.detail.clusterId", name = "$.detail.name", state = "$.detail.state" }
    input_template = "\"The cluster <cluster> (<name>) is <state>, and its steps have ended. See why with aws emr describe-cluster, fix the cause, apply for another cluster, and submit its jobs again.\""
  }
}
