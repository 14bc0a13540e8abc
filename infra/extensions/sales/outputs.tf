output "jobs" {
  description = "The jobs, for the input jobs_of_others of infra/extensions/emr_cluster."
  value = {
    for name in keys(var.jobs) : name => {
      lake            = local.permissions[name]
      parameters_path = local.paths[name]
      policies        = { (name) = local.policies[name] }
      runs            = { for run, made in local.runs : run => { arguments = made.arguments, program = made.program, role = made.role, schedule = made.schedule } if made.role == name }
    }
  }
}

output "lake_principals" {
  description = "What the jobs' roles need of Lake Formation, for the input principals of infra/extensions/lake_formation."
  value       = { for name, permissions in local.permissions : name => merge(permissions, { arn = module.jobs.role_arns[name] }) if length(permissions.database) > 0 }
}

output "readers" {
  description = "What each run reads of sales, and the tables of totals that it fills, for penstock schema plan and penstock lineage."
  value       = local.readers
}

output "submit_commands" {
  description = "The submit command of each run, JOB-COMMAND, for a shell."
  value       = module.jobs.submit_commands
}
