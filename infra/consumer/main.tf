# An account that reads. It only wires modules.

module "network" {
  source = "../modules/network"

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  cidr        = var.network.cidr
  clients     = local.clients
  emr_buckets = var.network.emr_buckets
  existing    = var.network.existing
  # Programs assume it to read the producer's schemas.
  foreign_roles       = [var.contract.registry.role_arn]
  interface_endpoints = local.interface_endpoints
  log_days            = var.retention.log_days
  other_cidrs         = setunion(var.network.other_cidrs, var.network.existing == null ? compact([try(var.contract.peering.cidr, null)]) : [])
  peered              = var.contract.exposure == "peering"
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

  route_table_ids = module.network.route_table_ids
}

module "reading_store" {
  source = "../modules/reading-store"

  prefix     = local.prefix
  account_id = var.account_id
  region     = var.contract.region
  errors     = setunion(values(local.functions)[*].errors, values(module.job_tables.jobs)[*].errors, [for name in var.dead_letters_of : "${name}-errors"])
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

module "consumer_functions" {
  source = "../modules/consumer-functions"

  bootstrap_servers = module.broker_access.bootstrap_servers
  functions         = local.functions
  mapping           = var.mapping
  platform          = local.base_platform
  shapes            = module.row_shapes.shapes
  unframed          = local.unframed
  writers           = { for name in keys(local.functions) : name => module.rights.writers[name] }
}

module "clients" {
  source = "../modules/clients"

  bootstrap_servers = module.broker_access.bootstrap_servers
  clients           = var.clients
  platform          = local.base_platform
}

module "quotas" {
  source = "../modules/quotas"

  check     = var.check_quotas
  makes_vpc = var.network.existing == null
  prefix    = local.prefix
  # Those of a VPC of others, and of extensions, are not known here.
  wanted = {
    endpoints = { service = "vpc", code = "L-29B6F2EB", needed = var.network.existing == null ? local.endpoints : 0, does = "makes ${local.endpoints} interface endpoints in its VPC" }
    functions = { service = "lambda", code = "L-B99A9384", needed = local.reserved == 0 ? 0 : local.reserved + 100, does = "reserves ${local.reserved} of the functions that run at once, and 100 must stay unreserved" }
    vcpus     = { service = "emr-serverless", code = "L-D05C8A75", needed = local.maximum_vcpus, does = "lets the application have ${local.maximum_vcpus} vCPU (spark.application.maximum), and a job gets no worker beyond the quota" }
  }
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
  spark = var.spark == null ? null : {
    alarms         = merge(values(module.job)[*].alarms...)
    application_id = module.spark["spark"].application.id
    schedules      = concat(module.spark["spark"].schedules, local.retries)
  }
  topic = { publishers = var.spark == null ? [] : ["rules"], subscribers = var.subscribers }
  tables = merge(
    { for table in values(module.reading_store.errors) : table.name => table.due_index },
    { for table in values(module.reading_store.readings) : table.name => null },
  )
}
