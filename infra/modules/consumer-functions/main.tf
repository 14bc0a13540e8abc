# The consumer functions, each with its rights and the event source mappings of its topics.
locals {
  # The Kafka login of each function: its own if it has one, else the one that all functions share.
  logins = { for name in keys(var.functions) : name => lookup(var.platform.brokers.logins, name, lookup(var.platform.brokers.logins, "functions", null)) }
  topics = { for name, function in var.functions : name => function.topics != null ? function.topics : toset(local.logins[name].topics) }
  policies = {
    for name, writer in var.writers : name => jsonencode({
      Version = "2012-10-17"
      Statement = flatten([
        for statements in concat(
          [for kind in ["read_schemas", "read_registry_secrets", "read_backups"] : var.platform.statements[kind]],
          [for kind in ["write_rows", "keep_errors", "use_keys"] : writer[kind]],
        ) : jsondecode(statements)
      ])
    })
  }
}

module "function" {
  source   = "../lambda-function"
  for_each = var.functions

  name        = each.value.function
  account_id  = var.platform.account_id
  region      = var.platform.region
  description = "Writes what it reads from Kafka to DynamoDB, each record by the schema it was written in"
  environment = merge(
    { for flag, value in var.shapes[each.value.table].settings : "PENSTOCK_${upper(replace(flag, "-", "_"))}" => value },
    {
      # Tried when `{"doctor": true}` asks the function to; without a login, since its mapping alone may read the password.
      KAFKA_BOOTSTRAP_SERVERS  = var.platform.brokers.servers
      KAFKA_SECURITY           = "tls"
      PENSTOCK_ERRORS_TABLE    = var.platform.store.errors[each.value.errors].name
      PENSTOCK_PARKED_BUCKET   = var.platform.lake.parked_bucket.name
      PENSTOCK_PARTIAL_ANSWERS = var.mapping.provisioned == null ? "false" : "true"
      PENSTOCK_READINGS_TABLE  = var.platform.store.readings[each.value.table].name
      PENSTOCK_REGISTRY        = var.platform.registry.urls
    },
    var.platform.registry.backups == "" ? {} : { PENSTOCK_REGISTRY_BACKUPS = var.platform.registry.backups },
    var.unframed == "" ? {} : { PENSTOCK_UNFRAMED = var.unframed },
  )
  log_days   = var.platform.retention.log_days
  memory_mib = each.value.memory_mib
  network = {
    vpc_id     = var.platform.network.vpc_id
    subnet_ids = var.platform.network.subnet_ids
    egress     = var.platform.network.egress
  }
  package = {
    path           = "${var.platform.functions.packages}/consumer-lambda.zip"
    architecture   = var.platform.functions.architecture
    python_version = var.platform.functions.python_version
    snap_start     = each.value.snap_start
  }
  policy_json     = local.policies[each.key]
  timeout_seconds = 840 # mappings from Kafka take no longer one; a batch may inflate to hundreds of times its size
  tracing         = true

  permissions_boundary = var.platform.permissions_boundary
}

module "mapping" {
  source   = "../kafka-mapping"
  for_each = var.functions

  account_id         = var.platform.account_id
  batching           = var.mapping.batching
  bootstrap_servers  = var.bootstrap_servers
  failure_bucket_arn = var.mapping.park_failed_batches ? var.platform.lake.parked_bucket.arn : null
  function = {
    arn       = module.function[each.key].invoked_arn
    name      = module.function[each.key].name
    role_name = module.function[each.key].role_name
  }
  group_prefix = var.platform.brokers.group_prefix
  network = {
    security_group_id = module.function[each.key].security_group_id
    subnet_ids        = var.platform.network.subnet_ids
  }
  provisioned = var.mapping.provisioned
  region      = var.platform.region
  secret      = { arn = local.logins[each.key].secret_arn, name = local.logins[each.key].secret_name }
  topics      = local.topics[each.key]
}
