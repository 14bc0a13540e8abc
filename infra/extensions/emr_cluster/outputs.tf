output "cluster" {
  description = "The cluster: its id, ARN and name; an idle one terminates, and the next apply makes another."
  value       = module.cluster.cluster
}

output "lake_principals" {
  description = "What the role of its steps needs of Lake Formation, for the input principals of infra/extensions/lake_formation: what its jobs need together."
  value = {
    "cluster/emr" = {
      arn      = module.cluster.role_arn
      database = distinct(flatten(values(local.jobs)[*].lake.database))
      tables   = distinct(flatten(values(local.jobs)[*].lake.tables))
    }
  }
}

output "logs_bucket" {
  description = "The bucket with the logs, each step's in CLUSTER/steps/STEP/."
  value       = module.cluster.logs_bucket
}

output "submit_commands" {
  description = "The command that adds a step for each run, for a shell."
  value       = module.cluster.submit_commands
}
