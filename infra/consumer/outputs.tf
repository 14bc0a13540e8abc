output "clients" {
  description = "What each client needs: role name, policy, brokers, login (security), secret, consumer groups, topics, registry, and the instance of its host."
  value = {
    for name, client in module.clients.clients : name => merge(client, {
      region   = var.contract.region
      registry = { for key in ["external_id", "name", "role_arn"] : key => var.contract.registry[key] }
    }, { for key, urls in { registries = local.registries[*].url } : key => urls if length(urls) > 0 })
  }
}

output "consumer" {
  description = "The name of the consumer that this contract belongs to."
  value       = var.contract.consumer

  precondition {
    condition     = contains(["default", var.contract.consumer], terraform.workspace)
    error_message = "The contract is of ${var.contract.consumer}, the workspace is ${terraform.workspace}; select the consumer's workspace, or hand over its own contract with `make contract`."
  }
}

output "functions" {
  description = "The consumer functions: the name of each, its table with the shape of its rows, its dead-letter table, and the event source mapping of each topic."
  value       = module.consumer_functions.functions
}

output "lake" {
  description = "The lake: bucket, Glue database with its tables, and Athena work group."
  value = {
    bucket    = module.lake.bucket.name
    database  = module.lake.database.name
    tables    = sort(flatten(values(module.job_tables.jobs)[*].lake))
    workgroup = module.lake.workgroup
  }
}

output "peering" {
  description = "With exposure peering, what the producer's entry of this consumer takes as peering: the VPC's address range and the id of the connection; null otherwise."
  value       = var.contract.exposure == "peering" ? { cidr = module.network.cidr, connection_id = module.broker_access.peering } : null
}

output "platform" {
  description = "What extensions take: local.platform, without secrets."
  value       = local.platform
  # Not for secrets, of which it has none: a plan would print all of it.
  sensitive = true
}

output "profiles" {
  description = "The settings of commands, for this consumer; `penstock init` writes them to penstock.toml."
  value = {
    (var.contract.consumer) = merge(module.broker_access.settings, {
      AWS_REGION = var.contract.region
      # That of the job consume and the function consumer, else the first one of a job or function of this root.
      PENSTOCK_ERRORS_TABLE  = try(module.reading_store.errors["errors"].name, [for name, table in module.reading_store.errors : table.name if !contains(var.dead_letters_of, trimsuffix(name, "-errors"))][0], "")
      PENSTOCK_PARKED_BUCKET = module.lake.parked_bucket.name
      PENSTOCK_REGISTRY      = local.registry_urls
      PENSTOCK_WORKGROUP     = module.lake.workgroup
    }, one(values(module.status)[*].settings), var.contract.unframed == null ? {} : { PENSTOCK_UNFRAMED = local.unframed })
  }
}

output "quotas" {
  description = "The quotas of the account that the plan has read, by name."
  value       = module.quotas.values
}

output "spark_application" {
  description = "The id of the EMR Serverless application, null without Spark; stop it before you change or destroy it."
  value       = one([for spark in values(module.spark) : spark.application.id])
}

output "submit_commands" {
  description = "The submit command of each run, for a shell: each job, its replay (replay-NAME; replay for consume), and maintain-TABLE for each of its tables."
  value       = merge(values(module.spark)[*].submit_commands...)
  # Not for secrets, of which they have none: a plan would print all of them.
  sensitive = true
}
