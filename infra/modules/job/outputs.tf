output "alarms" {
  description = "Its alarms, as infra/modules/metric-alarms takes them."
  value       = local.alarms
}

output "files" {
  description = "The artifacts that its runs name: content by file."
  value = merge(
    local.is_plan ? { (local.plan_file) = file(var.job.staging.plan) } : {},
    var.job.transform == null ? {} : { "${var.job.transform}.py" = file("${var.programs}/${var.job.transform}.py") },
  )
}

output "joins" {
  description = "What retries of its joins need (infra/modules/join-retries), null without joins."
  value = var.tables.waiting == null ? null : {
    errors        = local.errors.name
    file          = local.plan_file
    plan          = var.job.staging.plan
    retry_seconds = var.job.staging.retry_seconds
    schedule      = var.job.staging.schedule
    statements    = jsonencode(local.retry_statements)
    waiting       = local.readings[var.tables.waiting].name
  }
}

output "lake" {
  description = "The permissions of Lake Formation that its roles need together, on the database and on tables."
  value       = { for part in ["database", "tables"] : part => distinct(flatten([for permissions in values(local.lake_permissions) : permissions[part]])) }
}

output "lake_permissions" {
  description = "The permissions of Lake Formation on the database and its tables, by role."
  value       = local.lake_permissions
}

output "lake_tables" {
  description = "By table of the lake: the other tables of its job, its dead-letter table, and whether a plan names it."
  value = {
    for table in var.tables.lake : table => {
      # What is missing in a table may be dead letters of the job, or rows of its other tables.
      beside = length(local.routes) == 0 ? [] : [for other in var.tables.lake : other if other != table]
      errors = local.errors
      staged = local.is_plan
    }
  }
}

output "plain_folders" {
  description = "The folders of its plain Parquet files."
  value       = values(local.plain)
}

output "policies" {
  description = "The IAM policy of each of its roles."
  value       = local.policies
}

output "runs" {
  description = "Its runs, as infra/modules/spark-application takes them."
  value       = local.runs
}
