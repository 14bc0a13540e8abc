locals {
  _partition = data.aws_partition.this.partition

  # Empty for a serverless cluster. (`try` would make the keys unknown until apply.)
  exposure       = var.cluster.type == "provisioned" ? var.exposure.kind : "none"
  brokers        = merge(concat(module.broker_exposure_privatelink[*].brokers, module.broker_exposure_multi_vpc[*].brokers)...)
  load_balancers = merge(module.broker_exposure_privatelink[*].load_balancers...)

  packages = {
    for name in ["access", "producer"] : name => {
      path           = "${var.functions.packages}/${name}-lambda.zip"
      python_version = var.functions.python_version
      architecture   = var.functions.architecture
    }
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
            PENSTOCK_EVENT_TIME     = producer.event_time
            PENSTOCK_KEY            = try(join(",", producer.key), null)
            PENSTOCK_VERSION_BUDGET = tostring(lookup(local._budgets, name, null))
          } : name => value if value != null
        },
      )
      memory_mib     = coalesce(producer.memory_mib, var.functions.memory_mib)
      policy         = producer.policy
      registry       = producer.compatibility == null ? "" : "&compatibility=${producer.compatibility}"
      schema         = coalesce(producer.schema, producer.topic)
      topic          = producer.topic
      version_budget = lookup(local._budgets, name, null)
    }
  }

  hosts = { for name, client in var.clients : name => client.host if client.host != null }

  # The security groups of the clients of brokers and endpoints.
  clients = merge(
    { for name, producer in module.producer : name => producer.security_group_id },
    { for name, client in var.clients : name => client.host == null ? client.security_group_id : module.client_host[name].security_group_id },
  )

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
      rotation = consumer.rotation
      topics   = consumer.topics
      writes   = consumer.writes
      # AWS's serialisers call a schema as its topic.
      written_schemas = distinct(flatten([
        for topic in consumer.writes : [topic, [for producer in values(local.producers) : producer.schema if producer.topic == topic]]
      ]))
    }
  }
}

data "aws_partition" "this" {}
