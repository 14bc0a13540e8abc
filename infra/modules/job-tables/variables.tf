variable "functions" {
  description = "The tables that functions write, by function."
  type        = map(string)
  default     = {}

  validation {
    # They share a dead-letter table, whose replay writes the tables of the job.
    condition     = alltrue([for name, table in var.functions : try(contains(values(var.jobs[name == "consumer" ? "consume" : trimprefix(name, "consumer-")].writes), table), true)])
    error_message = "The consumer functions write ${jsonencode(var.functions)} and the jobs ${jsonencode({ for name, job in var.jobs : name => job.writes })}; the job consume must write the table of consumer, and the job NAME that of consumer-NAME, since its replay retries the dead letters of both: give the function another name."
  }
}

variable "jobs" {
  description = "The jobs by name: the table of each schema, or a plan."
  type = map(object({
    staging = optional(object({ plan = string }))
    writes  = optional(map(string), {})
  }))

  validation {
    condition     = alltrue([for job in values(var.jobs) : job.staging == null ? true : can(jsondecode(file(job.staging.plan)).tables[0])])
    error_message = "The plans are ${join(", ", compact([for job in values(var.jobs) : try(job.staging.plan, "")]))}; give the path of a JSON file with tables, and check it with `penstock staging check`."
  }
  validation {
    condition = alltrue(flatten([
      for job in values(var.jobs) : [
        for schema, table in job.writes : can(regex("^([A-Za-z0-9_.$#-]+|\\*)$", schema)) && can(regex("^[a-z0-9_]+$", table)) && !contains(["dead_letters", "errors", "function_leases", "parked_records"], table)
      ]
    ]))
    error_message = "The jobs write ${jsonencode({ for name, job in var.jobs : name => job.writes })}; name schemas as the registry does, tables with small letters, digits and underscores, and none dead_letters, errors, function_leases or parked_records, which are other tables."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : (length(job.writes) > 0) != (job.staging != null) && (!contains(keys(job.writes), "*") || length(job.writes) == 1)])
    error_message = "The jobs write ${jsonencode({ for name, job in var.jobs : name => job.writes })}; give each a table by schema, or one table for * and nothing else, or a plan in staging, and not both."
  }
  validation {
    condition     = length(distinct(flatten([for job in values(var.jobs) : values(job.writes)]))) == length(flatten([for job in values(var.jobs) : values(job.writes)]))
    error_message = "The jobs write ${jsonencode({ for name, job in var.jobs : name => job.writes })}; give each schema of each job a table of its own."
  }
}
