output "clients" {
  description = "The settings of each client: bootstrap servers, the prefix of its consumer groups, the policy to attach to its role, and the instance of its host, null without one."
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
    for name, consumer in local.consumers : name => merge({
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
        for id, broker in local.brokers : id => merge({
          host         = broker.host
          port         = broker.port
          service_id   = broker.service_id
          service_name = broker.service_name
          zone_ids     = broker.zone_ids
        }, broker.tls_port == null ? null : { tls_port = broker.tls_port })
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
      }
      programs = {
        for key, program in consumer.programs : key => merge(
          { for part in ["group_prefix", "topics", "transactions", "writes"] : part => program[part] },
          program.certificate == null ? module.broker_cluster.users["${name}_${key}"] : null,
          program.certificate == null ? null : { certificate = program.certificate, usernames = [program.certificate] },
        )
      }
    }, { for key, value in { peering = local.peering, registries = consumer.registries, unframed = consumer.unframed } : key => value if length(value) > 0 })
  }

  # A consumer may read as soon as it has its contract.
  depends_on = [module.kafka_access]

  precondition {
    condition     = length(local.registry_problems.kinds) == 0
    error_message = "The consumers ${join(", ", local.registry_problems.kinds)} have several registries of a kind; give each one, since records do not name the registry of their ids."
  }
  precondition {
    condition     = length(local.registry_problems.secrets) == 0
    error_message = "The registries ${join(", ", local.registry_problems.secrets)} have a secret_arn that cannot be used; give the whole ARN of a secret in ${var.region} and in the account of the programs that read it, since their VPC reaches no other."
  }
  precondition {
    condition     = length(local.registry_problems.unframed) == 0
    error_message = "The consumers ${join(", ", local.registry_problems.unframed)} read a topic without frames whose schema is in another registry than Glue; add one of the id's kind to their registries."
  }
  precondition {
    condition     = length(local.registry_problems.unread) == 0
    error_message = "The consumers ${join(", ", local.registry_problems.unread)} read a topic whose producer uses another registry than Glue; add its url to their registries, with a secret of their own account."
  }
  precondition {
    condition     = length(local.registry_problems.ways) == 0
    error_message = "The way to the registries ${join(", ", local.registry_problems.ways)} is missing or named twice; give either security_group_id or cidr, unless the url has an IPv4 address."
  }
}

output "emr_cluster" {
  description = "The id of the cluster of EMR on EC2, null without one; an idle cluster terminates, and the next apply makes another."
  value       = one([for emr in values(module.emr) : emr.cluster.id])
}

output "functions" {
  description = "The names of the Lambda functions: access, and each of producers."
  value = merge(
    { access = module.kafka_access.function_name },
    { for name, producer in module.producer : name => producer.name },
  )
}

output "platform" {
  description = "What extensions of this account take: local.platform, without secrets."
  value       = local.platform
  # Not for secrets, of which it has none: a plan would print all of it.
  sensitive = true
}

output "profiles" {
  description = "The settings of commands, by producer function; `penstock init` writes them to penstock.toml."
  value       = { for name, settings in local.producer_environments : name => merge(settings, module.status.settings, { AWS_REGION = var.region }) }
}

output "quotas" {
  description = "The quotas of the account that the plan has read, by name."
  value       = module.quotas.values
}

output "rejected_events_bucket" {
  description = "The bucket for rejected events."
  value       = module.rejected_events.bucket.name
}

output "spark_application" {
  description = "The id of the EMR Serverless application, null without jobs; stop it before you change or destroy it."
  value       = one([for spark in values(module.spark) : spark.application.id])
}

output "submit_commands" {
  description = "The submit command of each run, for a shell: NAME-COMMAND for each command of a job, a step of the cluster for the jobs of spark.cluster."
  value       = merge(concat([for spark in values(module.spark) : spark.submit_commands], [for emr in values(module.emr) : emr.submit_commands])...)
}
