locals {
  _partition = data.aws_partition.this.partition

  # Empty for a serverless cluster. (`try` would make the keys unknown until apply.)
  exposure = var.cluster.type == "provisioned" ? var.exposure.kind : "none"
  # For logins by SCRAM, and by client certificate where there are private CAs.
  ports   = concat([9096], length(coalesce(var.cluster.certificate_authorities, [])) > 0 ? [9094] : [])
  brokers = merge(concat(module.broker_exposure_privatelink[*].brokers, [module.broker_cluster.multi_vpc_brokers], module.broker_exposure_peering[*].brokers)...)
  # Those whose peering connection is accepted.
  peered         = { for consumer in var.consumers : consumer.name => merge(consumer.peering, { account_id = consumer.account_id }) if consumer.peering != null }
  load_balancers = merge(module.broker_exposure_privatelink[*].load_balancers...)

  # A serverless cluster has no configuration of its own, so each topic says what the one of other clusters does
  # (infra/modules/broker-cluster). The list: MSK Developer Guide, "Configuration properties for MSK Serverless clusters".
  serverless_properties = ["cleanup.policy", "compression.type", "max.message.bytes", "message.timestamp.difference.max.ms", "message.timestamp.type", "retention.bytes", "retention.ms"]
  topics = {
    for name, topic in var.topics : name => merge(topic, {
      properties = merge(var.cluster.type == "serverless" ? { "message.timestamp.type" = "LogAppendTime" } : {}, topic.properties)
    })
  }

  # The brokers' VPC, for the consumers that peer with it.
  peering = local.exposure == "peering" ? { cidr = module.network.cidr, vpc_id = module.network.vpc_id } : {}

  packages = {
    for name in ["access", "producer"] : name => {
      path           = "${var.functions.packages}/${name}-lambda.zip"
      python_version = var.functions.python_version
      architecture   = var.functions.architecture
    }
  }

  registry_url = "^(confluent|apicurio)[+]https?://([^@:/?# ]+@)?[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^?# ]*)?([?](naming|topic|group|allow)=[^&# ]+(&(naming|topic|group|allow)=[^&# ]+)*)?$"

  # Registries other than Glue, of producers and consumers: the URL as programs read it, and the way to the registry.
  _registry_inputs = merge(
    { for name, producer in var.producers : "producers.${name}" => merge(producer.registry, { account_id = var.account_id, compatibility = producer.compatibility }) if producer.registry != null },
    merge([
      for consumer in var.consumers : {
        for index, registry in consumer.registries : "consumers.${consumer.name}.${index}" => merge(registry, { account_id = consumer.account_id, compatibility = null })
      }
    ]...),
  )
  _registry_addresses = {
    for name, registry in local._registry_inputs : name => regex("^[a-z]+[+](?P<scheme>https?)://(?:[^@/?]*@)?(?P<host>[^:/?]+)(?::(?P<port>[0-9]+))?", registry.url)
  }
  _registry_options = {
    for name, registry in local._registry_inputs : name => [
      for key, value in { compatibility = registry.compatibility, secret = registry.secret_arn } : "${key}=${urlencode(value)}" if value != null
    ]
  }
  _registries = {
    for name, registry in local._registry_inputs : name => {
      cidr              = registry.security_group_id != null ? null : coalesce(registry.cidr, "${local._registry_addresses[name].host}/32")
      port              = tonumber(coalesce(local._registry_addresses[name].port, local._registry_addresses[name].scheme == "https" ? 443 : 80))
      secret_arn        = registry.secret_arn
      security_group_id = registry.security_group_id
      url = join("", concat(
        [registry.url],
        [for index, option in local._registry_options[name] : "${index > 0 || strcontains(registry.url, "?") ? "&" : "?"}${option}"],
      ))
    }
  }

  # The values in the messages of the preconditions of `contracts`.
  registry_problems = {
    kinds = [for consumer in var.consumers : consumer.name if length(distinct([for registry in consumer.registries : split("+", registry.url)[0]])) < length(consumer.registries)]
    secrets = [
      for name, registry in local._registry_inputs : name
      if registry.secret_arn != null && !can(regex("^arn:[a-z-]+:secretsmanager:${var.region}:${registry.account_id}:secret:.+-[A-Za-z0-9]{6}$", registry.secret_arn))
    ]
    unframed = flatten([
      for consumer in var.consumers : [
        for topic in consumer.topics : "${consumer.name} (${topic})"
        if try(strcontains(var.topics[topic].unframed, ":") && !contains([for registry in consumer.registries : split("+", registry.url)[0]], split(":", var.topics[topic].unframed)[0]), false)
      ]
    ])
    unread = flatten([
      for consumer in var.consumers : [
        for producer in values(var.producers) : "${consumer.name} (${producer.topic})"
        if try(contains(consumer.topics, producer.topic) && !contains([for registry in consumer.registries : replace(split("?", registry.url)[0], "/[^/]*@/", "")], replace(split("?", producer.registry.url)[0], "/[^/]*@/", "")), false)
      ]
    ])
    ways = [
      for name, registry in local._registry_inputs : name
      if registry.cidr != null ? registry.security_group_id != null || !can(cidrhost(registry.cidr, 0)) : registry.security_group_id == null && !can(cidrhost("${local._registry_addresses[name].host}/32", 0))
    ]
  }

  # Under the policy fixed a producer adds no version.
  _budgets = { for name, producer in var.producers : name => coalesce(producer.version_budget, 100) if producer.policy != "fixed" }
  producers = {
    for name, producer in var.producers : name => {
      function = "${var.prefix}-${name}"
      environment = merge({
        DEVICE_ID                 = producer.device_id
        PENSTOCK_POLICY           = producer.policy
        PENSTOCK_SCHEMA_NAME      = coalesce(producer.schema, producer.topic)
        PENSTOCK_TOPIC            = producer.topic
        PENSTOCK_TOPIC_PARTITIONS = tostring(try(var.topics[producer.topic].partitions, 3))
        PENSTOCK_TOPIC_REPLICAS   = tostring(try(coalesce(var.topics[producer.topic].replicas), -1))
        },
        {
          for name, value in {
            PENSTOCK_EVENT_TIME = producer.event_time
            PENSTOCK_KEY        = try(join(",", producer.key), null)
            # The names of attributes are the table's; the settings want some that are no fields of the keys.
            PENSTOCK_KEY_NAME       = try(length(producer.key) > 1 ? join("_", producer.key) : null, null)
            PENSTOCK_MODE           = producer.mode == "append" ? null : producer.mode
            PENSTOCK_NUMBERS        = producer.numbers == "double" ? null : producer.numbers
            PENSTOCK_ORDER          = try(join(",", producer.order), null)
            PENSTOCK_SORT           = try(join(",", producer.sort), null)
            PENSTOCK_SORT_NAME      = producer.mode == "append" ? null : try("${join("_", producer.sort)}_sort", "none")
            PENSTOCK_TIMES          = producer.times == "text" ? null : producer.times
            PENSTOCK_VERSION_BUDGET = tostring(lookup(local._budgets, name, null))
          } : name => value if value != null
        },
      )
      glue_options   = producer.compatibility == null ? "" : "&compatibility=${producer.compatibility}"
      memory_mib     = coalesce(producer.memory_mib, var.functions.memory_mib)
      policy         = producer.policy
      registry       = lookup(local._registries, "producers.${name}", null)
      schema         = coalesce(producer.schema, producer.topic)
      sets_mode      = producer.compatibility != null
      snap_start     = producer.snap_start
      topic          = producer.topic
      version_budget = lookup(local._budgets, name, null)
    }
  }

  # The schemas of each topic, as those name them who write it: AWS's serialisers call a schema as its topic.
  _schemas = {
    for topic in distinct(concat(keys(var.topics), flatten(var.consumers[*].writes))) :
    topic => distinct(concat([topic], [for producer in values(local.producers) : producer.schema if producer.topic == topic]))
  }

  # The environment variables of the functions, which commands use too (the output profiles).
  producer_environments = {
    for name, producer in local.producers : name => merge(producer.environment, {
      KAFKA_BOOTSTRAP_SERVERS  = module.broker_cluster.bootstrap_servers.iam
      KAFKA_SECURITY           = "iam"
      PENSTOCK_REGISTRY        = producer.registry != null ? producer.registry.url : "glue://${module.schema_registry.registry.name}?region=${var.region}${producer.glue_options}"
      PENSTOCK_REJECTED_BUCKET = module.rejected_events.bucket.name
    })
  }

  hosts = { for name, client in var.clients : name => client.host if client.host != null }

  client_groups = { for name, client in var.clients : name => client.host == null ? client.security_group_id : module.client_host[name].security_group_id }

  # The security groups of the clients of brokers and endpoints. Rules for a host have names of their own: a group that
  # takes its place gets others, and the host's are deleted before its group, which EC2 would keep as long as one names it.
  clients = merge(
    { for name, producer in module.producer : name => producer.security_group_id },
    { for name, id in local.client_groups : contains(keys(local.hosts), name) ? "${name} (host)" : name => id },
    length(var.jobs) == 0 ? {} : { spark = module.spark["spark"].security_group_id },
    { for name, emr in module.emr : "${name}_cluster" => emr.security_group_id },
  )

  is_function = "^(functions|consumer(-.*)?)$"
  # What the groups of a program begin with, after the prefix of its consumer: those of functions have the function's name,
  # as its mapping in the consumer's root has it.
  _group_names = {
    for consumer in var.consumers : consumer.name => {
      for name in keys(consumer.programs) : name => name == "functions" ? "penstock-${consumer.name}-consumer" : "${can(regex(local.is_function, name)) ? "penstock-${consumer.name}-" : ""}${name}-"
    }
  }
  # A consumer's roles have the names that its root gives them; they need not exist yet.
  consumers = {
    for consumer in var.consumers : consumer.name => {
      account_id      = consumer.account_id
      deploy_role_arn = coalesce(consumer.deploy_role_arn, "arn:${local._partition}:iam::${consumer.account_id}:role/deploy")
      external_id     = coalesce(consumer.external_id, "${var.prefix}/${consumer.name}/${consumer.account_id}")
      group_prefix    = coalesce(consumer.group_prefix, "${consumer.name}-")
      reader_role_arns = [
        for role in coalesce(consumer.reader_role_names, ["penstock-${consumer.name}-client-*", "penstock-${consumer.name}-consumer", "penstock-${consumer.name}-consumer-*", "penstock-${consumer.name}-job-*"]) :
        "arn:${local._partition}:iam::${consumer.account_id}:role/${role}"
      ]
      registries = [for index in range(length(consumer.registries)) : local._registries["consumers.${consumer.name}.${index}"]]
      programs = {
        for name, program in consumer.programs : name => {
          certificate  = program.certificate
          group_prefix = coalesce(program.group_prefix, "${coalesce(consumer.group_prefix, "${consumer.name}-")}${local._group_names[consumer.name][name]}")
          rotation     = coalesce(program.rotation, consumer.rotation)
          topics       = program.topics == null ? consumer.topics : program.topics
          transactions = program.transactions
          writes       = program.writes != null ? program.writes : can(regex(local.is_function, name)) ? [] : consumer.writes
        }
      }
      topics          = consumer.topics
      unframed        = { for topic in consumer.topics : topic => var.topics[topic].unframed if try(var.topics[topic].unframed, null) != null }
      writes          = consumer.writes
      written_schemas = distinct(flatten([for topic in consumer.writes : local._schemas[topic]]))
    }
  }
  # Those of all consumers; neither part of a key has an underscore.
  programs = merge([
    for consumer, settings in local.consumers : {
      for name, program in settings.programs : "${consumer}_${name}" => merge(program, {
        account_id   = settings.account_id
        functions_of = can(regex(local.is_function, name)) ? consumer : null
        seen_groups  = values(settings.programs)[*].group_prefix
      })
    }
  ]...)
}

data "aws_partition" "this" {}
