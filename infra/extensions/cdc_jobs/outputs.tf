output "jobs" {
  description = "The jobs, for the input jobs_of_others of infra/extensions/emr_cluster."
  value = {
    for name in keys(var.jobs) : name => {
      lake            = lookup(local.permissions, name, { database = [], tables = [] })
      parameters_path = null
      policies        = { for role, policy in local.policies : role => policy if contains([name, "${name}-maintain"], role) }
      runs            = { for run, made in local.runs : run => { arguments = made.arguments, program = made.program, role = made.role, schedule = made.schedule } if contains([name, "${name}-maintain"], run) }
    }
  }
}

output "lake_principals" {
  description = "What the jobs' roles need of Lake Formation, for the input principals of infra/extensions/lake_formation."
  value       = { for role, permissions in local.permissions : role => merge(permissions, { arn = module.jobs.role_arns[role] }) }
}

output "readers" {
  description = "The flags of each job, for penstock schema plan and penstock lineage."
  value       = { for name, run in local.captures : name => { arguments = run.arguments } }
}

output "submit_commands" {
  description = "The submit command of each run, for a shell."
  value       = module.jobs.submit_commands
}

output "tables" {
  description = "By job: its tables of the lake and of DynamoDB, and that of its dead letters."
  value = {
    for name, job in var.jobs : name => {
      dynamodb = { for topic in keys(job.dynamodb) : topic => module.tables.readings[local.names[name][topic]].name }
      errors   = var.platform.store.errors["${name}-errors"].name
      lake     = [for table in local.lake_tables[name] : "${var.platform.lake.database.name}.${table}"]
    }
  }

  precondition {
    condition     = alltrue([for by in values(local.made_by) : length(by) == 1])
    error_message = "The jobs make tables of the lake for ${jsonencode({ for table, by in local.made_by : table => by if length(by) > 1 })}; let each be made for one topic: leave out current or history in a job for one of them, capture it by a connector of another name, with which its topics begin, or give refined another table."
  }
}
