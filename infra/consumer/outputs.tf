output "consumer" {
  description = "Whose contract this is."
  value       = var.contract.consumer

  precondition {
    condition     = contains(["default", var.contract.consumer], terraform.workspace)
    error_message = "The contract is of ${var.contract.consumer}, the workspace is ${terraform.workspace}; select the consumer's workspace, or hand over its own contract with `make contract`."
  }
}

output "errors_table" {
  description = "The table of records that the consumer function and the job consume could not read or write; other jobs have one each."
  value       = module.reading_store.errors[local.errors].name
}

output "function" {
  description = "The name of the consumer function."
  value       = module.consumer.name
}

output "lake" {
  description = "Where the lake is: bucket, Glue database and the tables in it, Athena workgroup."
  value = {
    bucket    = module.lake.bucket.name
    database  = module.lake.database.name
    tables    = local.tables
    workgroup = module.lake.workgroup
  }
}

output "mappings" {
  description = "The mappings that bring records to the function, by topic."
  value       = module.kafka_mapping.mappings
}

output "readings_table" {
  description = "The table of readings that the consumer function writes."
  value       = module.reading_store.readings[local.table_of_all].name
}

output "secret_arn" {
  description = "This account's own copy of the user and password for Kafka."
  value       = module.broker_access.secret_arn
}

output "spark_application" {
  description = "The id of the EMR Serverless application, null without Spark; it must be stopped before it can be changed or destroyed."
  value       = one([for spark in values(module.spark) : spark.application.id])
}

output "submit_commands" {
  description = "By run, the command that submits it, ready for a shell: for each of jobs its name, replay-NAME (of consume: replay), and maintain-TABLE for each of its tables."
  value       = merge([for spark in values(module.spark) : spark.submit_commands]...)
}
