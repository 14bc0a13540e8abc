# The account that owns the brokers and the schemas. It only wires modules.

module "network" {
  source = "../modules/network"

  prefix              = var.prefix
  account_id          = var.account_id
  region              = var.region
  cidr                = var.network.cidr
  clients             = local.clients
  existing            = var.network.existing
  emr_buckets         = length(var.jobs) > 0 && var.spark.cluster != null
  gateway_endpoints   = ["s3"]
  interface_endpoints = local.interface_endpoints
  log_days            = var.retention.log_days
  other_cidrs         = setunion(var.network.other_cidrs, var.network.existing == null ? [for consumer in local.peered : consumer.cidr] : [])
  peered              = local.exposure == "peering"
  zone_ids            = var.network.zone_ids

  permissions_boundary = var.permissions_boundary
}

module "broker_cluster" {
  source = "../modules/broker-cluster"

  prefix     = var.prefix
  account_id = var.account_id
  region     = var.region
  clients    = merge({ access = module.kafka_access.security_group_id }, local.clients)
  cluster    = var.cluster
  exposure   = var.exposure.kind
  retention  = var.retention
  scrapers   = var.cluster.scrapers
  subnet_ids = module.network.subnet_ids
  users      = { for name, program in local.programs : name => { account_id = program.account_id, rotation = program.rotation } if program.certificate == null }
  vpc_id     = module.network.vpc_id
}

# A serverless cluster has no brokers to expose.
module "broker_exposure_privatelink" {
  source = "../modules/broker-exposure-privatelink"
  count  = local.exposure == "privatelink" ? 1 : 0

  prefix       = var.prefix
  broker_count = module.broker_cluster.broker_count
  cluster = {
    arn               = module.broker_cluster.arn
    security_group_id = module.broker_cluster.security_group_id
    zone_name         = module.broker_cluster.zone_name
  }
  consumers  = { for name, consumer in local.consumers : name => consumer.account_id }
  ports      = local.ports
  subnet_ids = module.network.subnet_ids
  vpc_id     = module.network.vpc_id

  acceptance_required = var.exposure.acceptance_required
}

module "broker_exposure_peering" {
  source = "../modules/broker-exposure-peering"
  count  = local.exposure == "peering" ? 1 : 0

  prefix       = var.prefix
  broker_count = module.broker_cluster.broker_count
  cluster = {
    security_group_id = module.broker_cluster.security_group_id
    zone_name         = module.broker_cluster.zone_name
  }
  consumers       = local.peered
  ports           = local.ports
  route_table_ids = module.network.route_table_ids
  vpc_id          = module.network.vpc_id
  zone_ids        = keys(module.network.subnet_ids)
}

module "kafka_access" {
  source = "../modules/kafka-access"

  prefix     = var.prefix
  account_id = var.account_id
  region     = var.region
  cluster = {
    arn               = module.broker_cluster.arn
    bootstrap_servers = module.broker_cluster.bootstrap_servers.iam
    name              = module.broker_cluster.name
    security_group_id = module.broker_cluster.security_group_id
  }
  delete_removed_topics = var.retention.delete_removed_topics
  log_days              = var.retention.log_days
  network               = { vpc_id = module.network.vpc_id, subnet_ids = values(module.network.workload_subnet_ids) }
  package               = local.packages["access"]
  # Brokers call the user of a client certificate by the certificate's name.
  readers = {
    for name, program in local.programs : name => {
      functions_of = program.functions_of
      group_prefix = program.group_prefix
      seen_groups  = program.seen_groups
      topics       = program.topics
      transactions = program.transactions
      usernames    = program.certificate == null ? module.broker_cluster.users[name].usernames : [program.certificate]
      writes       = program.writes
    }
  }
  topics = local.topics

  permissions_boundary = var.permissions_boundary
}

module "schema_registry" {
  source = "../modules/schema-registry"

  prefix     = var.prefix
  account_id = var.account_id
  region     = var.region
  name       = var.registry
  consumers = {
    for name, consumer in local.consumers : name => {
      account_id              = consumer.account_id
      endpoint_service_arns   = var.exposure.kind == "privatelink" ? values(local.brokers)[*].service_arn : []
      external_id             = consumer.external_id
      hand_over_principal_arn = consumer.deploy_role_arn
      reader_principal_arns   = consumer.reader_role_arns
      secret_name             = "${module.broker_cluster.secret_prefix}${name}_*"
      written_schemas         = consumer.written_schemas
    }
  }

  permissions_boundary = var.permissions_boundary
}

module "rejected_events" {
  source = "../modules/rejected-events"

  prefix     = var.prefix
  account_id = var.account_id
  functions  = values(local.producers)[*].function
  region     = var.region
  retention  = var.retention
}

module "producer" {
  source   = "../modules/lambda-function"
  for_each = local.producers

  name         = each.value.function
  account_id   = var.account_id
  region       = var.region
  description  = each.value.policy == "fixed" ? "Writes JSON events to Kafka under a registered schema that they must fit" : "Writes any JSON event to Kafka under a schema that it registers as needed"
  dead_letters = { bucket_arn = module.rejected_events.bucket.arn }
  environment  = local.producer_environments[each.key]
  log_days     = var.retention.log_days
  memory_mib   = each.value.memory_mib
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress = merge(
      { brokers = { port = 9098, security_group_id = module.broker_cluster.security_group_id } },
      module.network.egress,
      { for name, registry in { registry = each.value.registry } : name => registry if registry != null },
    )
  }
  package         = merge(local.packages["producer"], { snap_start = each.value.snap_start })
  policy_json     = local.producer_policies[each.key]
  timeout_seconds = 60
  tracing         = true

  permissions_boundary = var.permissions_boundary
}

module "test_events" {
  source = "../modules/test-events"
  count  = length(var.test_events.events) > 0 ? 1 : 0

  create_registry = var.test_events.create_registry
  events          = var.test_events.events
  functions       = values(local.producers)[*].function
}

module "kafka_client" {
  source   = "../modules/kafka-client"
  for_each = var.clients

  prefix = var.prefix
  egress = merge(
    { brokers = { port = 9098, security_group_id = module.broker_cluster.security_group_id } },
    # An instance installs its packages from S3.
    { for name, way in module.network.egress : name => way if name != "s3" || contains(keys(local.hosts), each.key) },
  )
  name              = each.key
  policy_json       = local.client_policies[each.key]
  role_name         = try(module.client_host[each.key].role_name, null)
  security_group_id = local.client_groups[each.key]
}

module "client_host" {
  source   = "../modules/client-host"
  for_each = local.hosts

  account_id = var.account_id
  region     = var.region
  host       = each.value
  name       = "${var.prefix}-client-${each.key}"
  network    = { vpc_id = module.network.vpc_id, subnet_ids = values(module.network.workload_subnet_ids) }

  permissions_boundary = var.permissions_boundary
}

module "alarms" {
  source = "../modules/alarms"

  prefix             = var.prefix
  account_id         = var.account_id
  region             = var.region
  cluster            = local.broker_metrics
  dead_letter_queues = values(module.producer)[*].dead_letter_queue.name
  endpoint_services  = { for id, broker in local.brokers : id => broker.service_id if var.exposure.kind == "privatelink" }
  functions          = concat([module.kafka_access.function_name], values(module.producer)[*].name)
  load_balancers     = local.load_balancers
  producers          = { for name, producer in local.producers : name => { function = producer.function, schema = producer.schema } }
  retention          = var.retention
  spark              = length(var.jobs) == 0 ? null : { application_id = module.spark["spark"].application.id }
  topic = {
    publishers  = concat(local.exposure == "privatelink" ? ["endpoint_services"] : [], length(var.jobs) == 0 ? [] : ["rules"])
    subscribers = var.subscribers
  }
}

module "quotas" {
  source = "../modules/quotas"

  check     = var.check_quotas
  makes_vpc = var.network.existing == null
  prefix    = var.prefix
}
