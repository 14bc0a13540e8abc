output "clients" {
  description = "What each client needs: bootstrap servers, the prefix of its consumer groups, the policy to attach to its role, and the instance of its host, null without one."
  value = {
    for name, client in module.kafka_client : name => {
      bootstrap_servers = module.broker_cluster.bootstrap_servers.iam
      group_prefix      = "${name}-"
      host              = try(module.client_host[name].instance_id, null)
      policy_arn        = client.policy_arn
    }
  }
}

output "contracts" {
  description = "The contract of each consumer, by name; `make contract CONSUMER=name` writes one to a file."
  value = {
    for name, consumer in local.consumers : name => {
      consumer            = name
      producer_account_id = var.account_id
      region              = var.region
      exposure            = var.exposure.kind
      acceptance_required = var.exposure.acceptance_required
      cluster = {
        arn       = module.broker_cluster.arn
        name      = module.broker_cluster.name
        zone_name = module.broker_cluster.zone_name
      }
      brokers = {
        for id, broker in local.brokers : id => {
          host         = broker.host
          port         = broker.port
          service_id   = broker.service_id
          service_name = broker.service_name
          zone_ids     = broker.zone_ids
        }
      }
      topics       = consumer.topics
      writes       = consumer.writes
      group_prefix = consumer.group_prefix
      registry = {
        arn         = module.schema_registry.registry.arn
        external_id = module.schema_registry.consumers[name].external_id
        name        = module.schema_registry.registry.name
        role_arn    = module.schema_registry.consumers[name].reader_role_arn
      }
      hand_over = {
        external_id = module.schema_registry.consumers[name].external_id
        role_arn    = module.schema_registry.consumers[name].hand_over_role_arn
        rotation    = module.broker_cluster.users[name].rotation
        secret_arn  = module.broker_cluster.users[name].secret_arn
        username    = module.broker_cluster.users[name].username
      }
    }
  }

  # A consumer may read as soon as it has its contract.
  depends_on = [module.kafka_access]
}

output "functions" {
  description = "The names of the Lambda functions: access, and each of producers."
  value = merge(
    { access = module.kafka_access.function_name },
    { for name, producer in module.producer : name => producer.name },
  )
}

output "rejected_events_bucket" {
  description = "The bucket for rejected events."
  value       = module.rejected_events.bucket.name
}
