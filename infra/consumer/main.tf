# An account that reads. It only wires modules.

module "network" {
  source = "../modules/network"

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  cidr        = var.network.cidr
  clients     = local.clients
  emr_cluster = var.network.emr_buckets
  existing    = var.network.existing
  # Programs assume it to read the producer's schemas.
  foreign_roles       = [var.contract.registry.role_arn]
  interface_endpoints = local.interface_endpoints
  log_days            = var.retention.log_days
  other_cidrs         = var.network.other_cidrs
  zone_ids            = var.network.zone_ids

  permissions_boundary = var.permissions_boundary
}

module "broker_access" {
  source    = "../modules/broker-access"
  providers = { aws = aws, aws.producer = aws.producer }

  prefix     = local.prefix
  account_id = var.account_id
  clients    = local.clients
  contract   = var.contract
  retention  = var.retention
  subnet_ids = module.network.subnet_ids
  vpc_id     = module.network.vpc_id
}

module "reading_store" {
  source = "../modules/reading-store"

  prefix     = local.prefix
  account_id = var.account_id
  region     = var.contract.region
  errors     = setunion(values(local.functions)[*].errors, values(module.job_tables.jobs)[*].errors)
  retention  = var.retention
  tables = merge(
    module.row_shapes.shapes,
    # No job or function has a table of this name.
    { function_leases = { hash_key = "id", range_key = null, ttl_attribute = "expiresAt" } },
    values(module.job_tables.jobs)[*].stored...
  )
}

module "lake" {
  source = "../modules/lake"

  prefix            = local.prefix
  account_id        = var.account_id
  region            = var.contract.region
  query_limit_bytes = var.lake.query_limit_bytes
  retention         = var.retention
  subscribers       = var.subscribers
}

module "consumer" {
  source   = "../modules/lambda-function"
  for_each = local.functions

  name        = each.value.function
  account_id  = var.account_id
  region      = var.contract.region
  description = "Writes what it reads from Kafka to DynamoDB, each record by the schema it was written in"
  environment = merge(
    {
      for flag, value in module.row_shapes.shapes[each.value.table].settings : "PENSTOCK_${upper(replace(flag, "-", "_"))}" => value
    },
    {
      PENSTOCK_ERRORS_TABLE    = module.reading_store.errors[each.value.errors].name
      PENSTOCK_PARKED_BUCKET   = module.lake.parked_bucket.name
      PENSTOCK_PARTIAL_ANSWERS = var.mapping.provisioned == null ? "false" : "true"
      PENSTOCK_READINGS_TABLE  = module.reading_store.readings[each.value.table].name
      PENSTOCK_REGISTRY        = local.registry_urls
    },
    length(var.registry_backups) == 0 ? {} : { PENSTOCK_REGISTRY_BACKUPS = join(" ", var.registry_backups) },
    var.contract.unframed == null ? {} : { PENSTOCK_UNFRAMED = local.unframed },
  )
  log_days   = var.retention.log_days
  memory_mib = each.value.memory_mib
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = local.egress
  }
  package = {
    path           = "${var.functions.packages}/consumer-lambda.zip"
    architecture   = var.functions.architecture
    python_version = var.functions.python_version
  }
  policy_json     = local.function_policies[each.key]
  timeout_seconds = 120
  tracing         = true

  permissions_boundary = var.permissions_boundary
}

module "kafka_mapping" {
  source   = "../modules/kafka-mapping"
  for_each = local.functions

  account_id         = var.account_id
  batching           = var.mapping.batching
  bootstrap_servers  = module.broker_access.bootstrap_servers
  failure_bucket_arn = var.mapping.park_failed_batches ? module.lake.parked_bucket.arn : null
  function = {
    arn       = module.consumer[each.key].arn
    name      = module.consumer[each.key].name
    role_name = module.consumer[each.key].role_name
  }
  group_prefix = var.contract.group_prefix
  network = {
    security_group_id = module.consumer[each.key].security_group_id
    subnet_ids        = values(module.network.workload_subnet_ids)
  }
  provisioned = var.mapping.provisioned
  region      = var.contract.region
  secret      = { arn = module.broker_access.secret_arn, name = module.broker_access.secret_name }
  topics      = each.value.topics
}

module "kafka_client" {
  source   = "../modules/kafka-client"
  for_each = var.clients

  prefix = local.prefix
  # Rows and tables are not theirs; a host installs its packages from S3.
  egress            = { for name, way in local.egress : name => way if name != "dynamodb" && (name != "s3" || contains(keys(local.hosts), each.key)) }
  name              = each.key
  policy_json       = local.client_policy
  role_name         = try(module.client_host[each.key].role_name, null)
  security_group_id = local.clients[each.key]
}

module "client_host" {
  source   = "../modules/client-host"
  for_each = local.hosts

  account_id = var.account_id
  region     = var.contract.region
  host       = each.value
  name       = "${local.prefix}-client-${each.key}"
  network    = { vpc_id = module.network.vpc_id, subnet_ids = values(module.network.workload_subnet_ids) }

  permissions_boundary = var.permissions_boundary
}

module "alarms" {
  source = "../modules/alarms"

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  consumers   = values(local.functions)[*].function
  functions   = concat(values(local.functions)[*].function, local.retries)
  lag_records = var.mapping.lag_records
  retention   = var.retention
  spark = one([for spark in values(module.spark) : {
    alarms         = merge(values(module.job)[*].alarms...)
    application_id = spark.application.id
    schedules      = concat(spark.schedules, local.retries)
  }])
  subscribers = var.subscribers
  tables      = concat(values(module.reading_store.errors)[*].name, values(module.reading_store.readings)[*].name)
}
