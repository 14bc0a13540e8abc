variable "job" {
  description = "The job, as an entry of jobs in the consumer's root."
  type = object({
    # By program: its flags without dashes that follow from nothing else.
    arguments = optional(map(map(string)), {})
    # The folder of its checkpoint, its name by default.
    checkpoint = optional(string)
    # The file of its program, without .py.
    program = optional(string)
    # Topics; all of the contract by default.
    reads = optional(list(string))
    # By program: when a run that ends starts: rate(1 day), or cron(0 3 * * ? *) in UTC.
    schedules = optional(map(string), {})
    # In place of writes: a plan names topics and tables (docs/staging.md), and joins are retried on a schedule.
    staging = optional(object({
      plan            = string
      retry_seconds   = optional(number)
      schedule        = optional(string, "rate(5 minutes)")
      waiting_records = optional(number, 1000)
    }))
    # A file of spark.jobs, without .py, whose function transform(rows) changes rows before every sink.
    transform = optional(string)
    # An interval, or available-now to read once what there is.
    trigger = optional(string)
    # By program: infra/modules/spark-jobs says what each means.
    workers = optional(map(object({
      driver            = optional(object({ cores = optional(number), memory_gib = optional(number) }))
      executor          = optional(object({ cores = optional(number), disk_gib = optional(number), memory_gib = optional(number) }))
      initial_executors = optional(number)
      max_executors     = optional(number)
    })), {})
    # By schema: its table; * alone for one table of all schemas.
    writes = optional(map(string), {})
  })

  validation {
    condition     = alltrue(flatten([for program, flags in var.job.arguments : [for flag in keys(flags) : contains(lookup(local.free_flags, program, []), flag) && contains(local.programs_of[var.job.staging == null ? "consume" : "stage"], program)]]))
    error_message = "The job ${var.name} has the arguments ${jsonencode(var.job.arguments)}; choose from ${jsonencode({ for program in local.programs_of[var.job.staging == null ? "consume" : "stage"] : program => local.free_flags[program] })}, since the other flags follow from what else is set, with the rights that they need."
  }
  validation {
    condition     = length(setsubtract(keys(var.job.workers), local.programs_of[var.job.staging == null ? "consume" : "stage"])) == 0
    error_message = "The job ${var.name} has workers for ${join(", ", keys(var.job.workers))}; name the programs ${join(", ", local.programs_of[var.job.staging == null ? "consume" : "stage"])}."
  }
  validation {
    condition     = length(setsubtract(keys(var.job.schedules), local.programs_of[var.job.staging == null ? "consume" : "stage"])) == 0
    error_message = "The job ${var.name} has schedules for ${join(", ", keys(var.job.schedules))}; name the programs ${join(", ", local.programs_of[var.job.staging == null ? "consume" : "stage"])}."
  }
  validation {
    condition     = var.job.trigger == "available-now" || !contains(keys(var.job.schedules), var.job.staging == null ? "consume" : "stage")
    error_message = "The job ${var.name} has a schedule for ${var.job.staging == null ? "consume" : "stage"}, which ends only with trigger available-now: set it, or leave the schedule out."
  }
  validation {
    condition     = can(regex("^[a-z0-9-]+$", coalesce(var.job.checkpoint, "-")))
    error_message = "The checkpoint of the job ${var.name} is ${coalesce(var.job.checkpoint, "-")}; name a folder with small letters, digits and dashes."
  }
  validation {
    condition     = fileexists("${var.programs}/${coalesce(var.job.program, var.job.staging == null ? "consume" : "stage")}.py") && !contains(["maintain_lake", "replay"], coalesce(var.job.program, var.job.staging == null ? "consume" : "stage"))
    error_message = "The program of the job ${var.name} is ${coalesce(var.job.program, var.job.staging == null ? "consume" : "stage")}; give the name of a file in ${var.programs}, without .py, that takes the flags of ${var.job.staging == null ? "consume" : "stage"}."
  }
  validation {
    condition     = var.job.transform == null ? true : fileexists("${var.programs}/${var.job.transform}.py") && var.job.staging == null
    error_message = "The job ${var.name} has the transform ${coalesce(var.job.transform, "-")}; give the name of a file in ${var.programs}, without .py, that has a function transform(rows), to a job without staging."
  }
  validation {
    condition     = var.job.reads == null ? true : length(var.job.reads) > 0 && length(setsubtract(var.job.reads, local.login.topics)) == 0
    error_message = "The job ${var.name} reads ${jsonencode(var.job.reads)}; name topics that its Kafka user may read (${join(", ", local.login.topics)}), at least one, or leave reads out for all of them."
  }
  validation {
    condition     = alltrue([for flags in values(var.job.arguments) : startswith(lookup(flags, "group-prefix", local.login.group_prefix), local.login.group_prefix)])
    error_message = "The job ${var.name} has the arguments ${jsonencode(var.job.arguments)}; begin group-prefix with ${local.login.group_prefix}, since its Kafka user may join no other groups."
  }
  validation {
    condition     = var.job.staging == null || var.job.reads == null
    error_message = "The job ${var.name} has staging and reads; leave reads out, since the plan names the topics."
  }
  validation {
    condition     = can(regex("^(available-now|[1-9][0-9]* (second|minute|hour)s?)$", coalesce(var.job.trigger, "available-now")))
    error_message = "The trigger of the job ${var.name} is ${coalesce(var.job.trigger, "-")}; write available-now, or an interval like 30 seconds."
  }
  validation {
    condition     = var.job.staging == null ? true : coalesce(var.job.staging.retry_seconds, 1) >= 1 && var.job.staging.waiting_records >= 0
    error_message = "The job ${var.name} has staging ${jsonencode(var.job.staging)}; give retry_seconds of at least 1, and waiting_records of at least 0."
  }
  validation {
    condition     = !var.parquet || var.job.staging == null
    error_message = "The job ${var.name} has staging and is in lake.parquet.jobs; name jobs without staging: a plan writes no plain files."
  }
}

variable "lag_records" {
  description = "The records of a partition that may wait after each batch that ended within 15 minutes, or after the last batch, before an alarm."
  type        = number
}

variable "name" {
  description = "The name of the job."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,23}$", var.name)) && !can(regex("^(consumer|maintain|replay)(-|$)|-(maintain|replay)$", var.name))
    error_message = "A job is called ${var.name}; use up to 24 small letters, digits and dashes, a letter first, with neither maintain nor replay at an end, which are the runs that follow from a job, nor consumer at the start, which are the functions."
  }
}

variable "parquet" {
  description = "Whether the job also writes plain Parquet files, with a Glue table TABLE_plain."
  type        = bool
  default     = false
}

variable "platform" {
  description = "What the job needs of the consumer's root."
  type = object({
    account_id = string
    partition  = string
    prefix     = string
    region     = string
    brokers = object({
      logins      = map(object({ group_prefix = string, read_password = string, secret_arn = string, security = optional(string, "scram"), topics = list(string) }))
      tls_servers = optional(string)
    })
    lake = object({
      bucket        = object({ arn = string, name = string })
      database      = object({ name = string })
      parked_bucket = object({ arn = string, name = string })
    })
    registry  = object({ backups = string })
    retention = object({ settled_days = optional(number) })
    statements = object({
      read_backups          = string
      read_registry_secrets = string
      read_schemas          = string
      see_lake              = string
      use_lake_key          = string
    })
    store = object({
      errors   = map(object({ arn = string, due_index = string, name = string }))
      readings = map(object({ arn = string, name = string }))
    })
  })

  validation {
    condition     = contains(keys(var.platform.brokers.logins), var.name) || contains(keys(var.platform.brokers.logins), "jobs")
    error_message = "The contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}, and none for the job ${var.name}; in the producer's root, name jobs, or ${var.name}, in programs of this consumer."
  }
}

variable "programs" {
  description = "The folder of programs."
  type        = string
}

variable "shapes" {
  description = "The shapes of its tables, as infra/modules/row-shapes puts them out."
  type = map(object({
    hash_key  = string
    range_key = optional(string)
    settings  = map(string)
    upserts   = bool
  }))
  default = {}

  validation {
    condition     = alltrue([for schema, table in var.job.writes : contains(schema == "*" ? ["delete", "ignore"] : ["ignore"], try(var.shapes[table].settings.tombstone, "ignore"))])
    error_message = "The job ${var.name} writes tables with the tombstones ${jsonencode({ for table, shape in var.shapes : table => lookup(shape.settings, "tombstone", null) })}; a record without a value has no schema, so a Spark job ignores it, or deletes if it writes one table for *: leave tombstone out for the other tables that jobs write."
  }
}

variable "tables" {
  description = "Its tables, as infra/modules/job-tables puts them out."
  type = object({
    dynamodb = list(string)
    errors   = string
    finals   = list(string)
    lake     = list(string)
    waiting  = optional(string)
  })
}

variable "written" {
  description = "The statements of its writer, as infra/modules/rights puts them out."
  type        = object({ keep_errors = string, use_keys = string, write_rows = string })
}
