# An EMR Serverless application, its log group and its network.
locals {
  partition = data.aws_partition.this.partition

  application_name = "${var.prefix}-spark"
  bucket_name      = "${var.prefix}-artifacts-${var.account_id}-${var.region}"
  log_group        = "/aws/emr-serverless/${local.application_name}"

  # A release fits if the jobs' jars run on its Spark, Scala and Java.
  releases = jsondecode(file("${path.module}/../releases.json"))
  fitting_releases = [
    for label, release in local.releases.emr : label
    if startswith("${release.spark}.", "${local.releases.jars.spark}.") && startswith(release.scala, "${local.releases.jars.scala}.") && contains(release.java, local.releases.jars.java)
  ]
}

data "aws_partition" "this" {}

# Its jobs; extensions add jobs of their own.
module "jobs" {
  source = "../spark-jobs"

  account_id  = var.account_id
  application = local.application
  parameters  = var.parameters
  partition   = local.partition
  prefix      = var.prefix
  region      = var.region
  roles       = var.roles
  runs        = { for name, run in var.runs : name => merge(run, { program = local.urls.programs[run.program] }) }

  permissions_boundary = var.permissions_boundary

  # A schedule with a rate starts a run as soon as it is there.
  depends_on = [aws_cloudwatch_log_group.this, aws_s3_object.file, aws_s3_object.upload, aws_vpc_security_group_egress_rule.this]
}

resource "aws_emrserverless_application" "this" {
  name          = local.application_name
  architecture  = upper(var.application.architecture)
  release_label = var.application.release_label
  type          = "spark"

  auto_start_configuration {
    enabled = true
  }

  auto_stop_configuration {
    enabled              = true
    idle_timeout_minutes = var.application.idle_minutes
  }

  maximum_capacity {
    cpu    = var.application.maximum.cpu
    memory = var.application.maximum.memory
  }

  network_configuration {
    security_group_ids = [aws_security_group.this.id]
    subnet_ids         = var.network.subnet_ids
  }
}

# Created here with encryption and retention: a log group that a job's logging creates has neither.
resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_338: a year unless the caller says otherwise
  name              = local.log_group
  kms_key_id        = module.key.arn
  retention_in_days = var.retention.log_days
}

# ---------------------------------------------------------------------------------------------
# Network: no ingress, and egress only as named
# ---------------------------------------------------------------------------------------------

resource "aws_security_group" "this" {
  # checkov:skip=CKV2_AWS_5: the application above has it, where checkov does not look
  name        = local.application_name
  description = "The jobs of ${local.application_name}: no way in, ways out by name"
  vpc_id      = var.network.vpc_id

  tags = { Name = local.application_name }
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = var.network.egress

  security_group_id            = aws_security_group.this.id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  cidr_ipv4                    = each.value.cidr
  prefix_list_id               = each.value.prefix_list_id
  referenced_security_group_id = each.value.security_group_id

  tags = { Name = "${local.application_name}-${each.key}" }
}
