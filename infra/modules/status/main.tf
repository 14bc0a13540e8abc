# What is open in an account, counted on a schedule and published as metrics: kept events, dead letters, versions left.
# Alarms on it stay until all is replayed or settled (alarms.tf).
locals {
  name   = "${var.platform.prefix}-status"
  _place = "${var.platform.region}:${var.platform.account_id}"
  _keys  = "arn:${var.platform.partition}:kms:${local._place}:key/*"

  # A producer without a budget registers no versions. As a share of it, the limit of alarms fits every budget.
  _budgets = {
    for name, producer in var.producers : name => {
      budget = producer.version_budget
      few    = coalesce(var.status.versions_left, ceil(producer.version_budget / 5))
      grows  = producer.policy == "grow"
      schema = producer.schema
    } if producer.version_budget != null
  }
  # What the function is told, and `penstock status` too.
  settings = merge(
    { for bucket in var.bucket[*] : "PENSTOCK_REJECTED_BUCKET" => bucket.name },
    length(var.producers) == 0 ? {} : {
      # Short, since a function's variables have 4 KB: each registry once, and a schema as a list of what it is named and has.
      PENSTOCK_STATUS_PRODUCERS = jsonencode({ for url in distinct(values(var.producers)[*].registry.url) : url => {
        for name, producer in var.producers : producer.function => try([for key in ["schema", "budget", "few", "grows"] : local._budgets[name][key]], null) if producer.registry.url == url
      } })
    },
    length(var.tables) == 0 ? {} : { PENSTOCK_STATUS_TABLES = join(",", sort(values(var.tables)[*].name)) },
  )

  # Registries other than Glue have ways out of their own.
  ways_out = {
    for name, way in var.platform.network.egress : name => way
    if name == "dynamodb" ? length(var.tables) > 0 : var.bucket != null && name != "brokers"
  }
}

module "function" {
  source = "../lambda-function"

  name        = local.name
  account_id  = var.platform.account_id
  region      = var.platform.region
  description = "Counts what is open, and publishes each count as a metric"
  environment = local.settings
  log_days    = var.platform.retention.log_days
  network     = merge(var.platform.network, { egress = local.ways_out })
  package = {
    path           = "${var.platform.functions.packages}/status-lambda.zip"
    architecture   = var.platform.functions.architecture
    python_version = var.platform.functions.python_version
  }
  policy_json          = local.policy_json
  reserved_concurrency = var.platform.functions.reserved_concurrency
  timeout_seconds      = 300
  tracing              = false

  permissions_boundary = var.permissions_boundary
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = { for name, way in local.ways_out : name => way if name == "endpoints" }

  security_group_id            = each.value.security_group_id
  description                  = "HTTPS from status"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
  referenced_security_group_id = module.function.security_group_id
}

module "schedule" {
  source = "../function-schedule"

  account_id = var.platform.account_id
  partition  = var.platform.partition
  region     = var.platform.region
  expression = var.status.minutes == 1 ? "rate(1 minute)" : "rate(${var.status.minutes} minutes)"
  function   = { arn = module.function.arn, name = module.function.name }
  name       = local.name

  permissions_boundary = var.permissions_boundary

  depends_on = [aws_vpc_security_group_ingress_rule.this]
}
