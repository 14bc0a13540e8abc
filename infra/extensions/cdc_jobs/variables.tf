variable "jobs" {
  description = "The jobs of change data capture, by name."
  type = map(object({
    # Flags of jobs/cdc.py, without dashes, that follow from nothing else.
    arguments = optional(map(string), {})
    # Iceberg tables that are equal to the database's.
    current = optional(bool, true)
    # By topic: the column of the primary key, or _key for a key of several columns.
    dynamodb = optional(map(string), {})
    # Files of records: raw, flattened.
    files = optional(set(string), [])
    # Iceberg tables with each version of each row.
    history = optional(bool, false)
    # When its tables are maintained, in UTC; null for by hand only.
    maintain = optional(string, "cron(0 3 * * ? *)")
    # The result of a query over current tables, partitioned by a column.
    refined = optional(object({ by = optional(string), query = string, table = string }))
    # When a run that ends starts: rate(1 day), or cron(0 3 * * ? *) in UTC.
    schedule = optional(string)
    # Those of the connector, PREFIX.SCHEMA.TABLE.
    topics = set(string)
    # An interval, or available-now to read once what there is.
    trigger = optional(string, "30 seconds")
    # infra/modules/spark-jobs says what each means.
    workers = optional(object({
      driver            = optional(object({ cores = optional(number), memory_gib = optional(number) }))
      executor          = optional(object({ cores = optional(number), disk_gib = optional(number), memory_gib = optional(number) }))
      initial_executors = optional(number)
      max_executors     = optional(number)
    }))
  }))

  validation {
    condition     = length(var.jobs) > 0 && alltrue([for name in keys(var.jobs) : can(regex("^[a-z][a-z0-9-]{0,23}$", name)) && !can(regex("^(consumer|maintain|replay)(-|$)|-(maintain|replay)$", name))])
    error_message = "The jobs of change data capture are ${join(", ", keys(var.jobs))}; name at least one, with up to 24 small letters, digits and dashes, a letter first, as names of jobs of the platform are."
  }
  validation {
    condition     = length(setintersection(keys(var.jobs), try(keys(var.platform.jobs.named), []))) == 0
    error_message = "The jobs of change data capture are ${join(", ", keys(var.jobs))}, those of the platform ${join(", ", try(keys(var.platform.jobs.named), []))}; give each a name of its own."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : job.current || job.history || length(job.dynamodb) + length(job.files) > 0])
    error_message = "A job of ${join(", ", keys(var.jobs))} has no output; leave current on, or set history, dynamodb or files."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(setsubtract(job.files, ["flattened", "raw"])) == 0])
    error_message = "The jobs have files ${jsonencode({ for name, job in var.jobs : name => job.files })}; name flattened or raw."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : job.refined == null || job.current])
    error_message = "The jobs ${join(", ", [for name, job in var.jobs : name if job.refined != null && !job.current])} have refined without current; leave current on, whose tables the query reads."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(setsubtract(keys(job.arguments), local.free_flags)) == 0])
    error_message = "The jobs have the arguments ${jsonencode({ for name, job in var.jobs : name => job.arguments })}; choose from ${join(", ", local.free_flags)}, since the other flags follow from what else is set, with the rights that they need."
  }
  validation {
    condition     = alltrue([for name, job in var.jobs : length(job.topics) > 0 && length(setsubtract(job.topics, try(lookup(var.platform.brokers.logins, name, var.platform.brokers.logins["jobs"]).topics, job.topics))) == 0])
    error_message = "The jobs read ${jsonencode({ for name, job in var.jobs : name => job.topics })}; name topics that their Kafka users may read (${jsonencode({ for name in keys(var.jobs) : name => try(lookup(var.platform.brokers.logins, name, var.platform.brokers.logins["jobs"]).topics, []) })}), at least one: in the producer's root, add the connector's to topics of this consumer."
  }
  validation {
    condition     = length(distinct([for topic in flatten([for job in values(var.jobs) : tolist(job.topics)]) : lower(replace(topic, "/[^0-9A-Za-z_]+/", "_"))])) == length(flatten([for job in values(var.jobs) : tolist(job.topics)]))
    error_message = "The jobs read ${jsonencode({ for name, job in var.jobs : name => job.topics })}; let each topic be read by one job, and be a table of its own."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(setsubtract(keys(job.dynamodb), job.topics)) == 0 && alltrue([for key in values(job.dynamodb) : key != ""])])
    error_message = "The jobs have dynamodb ${jsonencode({ for name, job in var.jobs : name => job.dynamodb })}; name topics of the job, each with the column of its primary key, or _key for several columns."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(job.dynamodb) == 0 || length(job.dynamodb) == length(job.topics)])
    error_message = "The jobs have dynamodb ${jsonencode({ for name, job in var.jobs : name => keys(job.dynamodb) })} and topics ${jsonencode({ for name, job in var.jobs : name => job.topics })}; give all topics of a job a table of DynamoDB, or none, and another job the others."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : can(regex("^(available-now|[1-9][0-9]* (second|minute|hour)s?)$", job.trigger))])
    error_message = "The triggers are ${jsonencode({ for name, job in var.jobs : name => job.trigger })}; write available-now, or an interval like 30 seconds."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : job.schedule == null || job.trigger == "available-now"])
    error_message = "The jobs ${join(", ", [for name, job in var.jobs : name if job.schedule != null && job.trigger != "available-now"])} have a schedule and read without end; set trigger to available-now, or leave the schedule out."
  }
  validation {
    condition     = length(setsubtract([for name in keys(var.jobs) : "${name}-errors"], keys(var.platform.store.errors))) == 0
    error_message = "The jobs of change data capture are ${join(", ", keys(var.jobs))}, and the dead-letter tables ${join(", ", keys(var.platform.store.errors))}; name each job in dead_letters_of of the consumer's root, which makes its table."
  }
  validation {
    condition     = contains(keys(var.platform.brokers.logins), "jobs") || length(setsubtract(keys(var.jobs), keys(var.platform.brokers.logins))) == 0
    error_message = "The jobs are ${join(", ", keys(var.jobs))}, and the contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}; in the producer's root, name jobs, or each job, in programs of this consumer."
  }
}

variable "lag_records" {
  description = "The records of a partition that may wait after each batch that ended within 15 minutes, or after the last batch, before an alarm."
  type        = number
  default     = 100000
}

variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    alarms               = object({ topic_arn = string })
    brokers              = object({ logins = map(object({ group_prefix = string, read_password = string, secret_arn = string, security = optional(string, "scram"), topics = list(string) })), tls_servers = optional(string) })
    jobs = object({
      application = object({
        arn           = string
        bucket        = object({ arn = string, name = string })
        configuration = map(string)
        files         = map(string)
        id            = string
        log_group     = string
        maximum       = object({ cpu = string, memory = string })
        name          = string
        submission    = string
      })
      artifacts_bucket = object({ name = string })
      named            = map(object({}))
      programs         = string
    })
    lake = object({
      bucket        = object({ arn = string, name = string })
      database      = object({ name = string })
      parked_bucket = object({ arn = string, name = string })
    })
    registry   = object({ backups = string })
    retention  = object({ deletion_protection = bool, key_deletion_days = number })
    statements = object({ read_backups = string, read_registry_secrets = string, read_schemas = string, see_lake = string, use_lake_key = string })
    # A dead-letter table has the lease of its job too.
    store = object({ errors = map(object({ name = string })) })
  })

  validation {
    condition     = var.platform.jobs != null
    error_message = "The platform has no Spark; set spark in the consumer's root, or take cdc_jobs out of extensions.tf."
  }
  validation {
    condition     = var.platform.jobs == null ? true : fileexists("${var.platform.jobs.programs}/cdc.py") && fileexists("${var.platform.jobs.programs}/maintain_lake.py")
    error_message = "There is no cdc.py or maintain_lake.py in ${try(var.platform.jobs.programs, "")}; give the folder of programs in spark.jobs of the consumer's root."
  }
}
