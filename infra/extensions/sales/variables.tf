variable "jobs" {
  description = "The jobs of sales, by name."
  type = map(object({
    # Of jobs/sales, each of which is a run.
    commands = set(string)
    # Tables of the lake that it writes and reads.
    output_table = optional(string)
    # In Parameter Store, by flag with underscores.
    parameters = optional(map(string), {})
    # Topics; all of the contract by default.
    reads = optional(list(string))
    # By command: when a run that ends starts: rate(1 day), or cron(0 3 * * ? *) in UTC.
    schedules = optional(map(string), {})
    table     = optional(string)
    # Of streams: an interval, or available-now to read once what there is.
    trigger = optional(string)
    # Of each run: infra/modules/spark-jobs says what each means.
    workers = optional(object({
      driver            = optional(object({ cores = optional(number), memory_gib = optional(number) }))
      executor          = optional(object({ cores = optional(number), disk_gib = optional(number), memory_gib = optional(number) }))
      initial_executors = optional(number)
      max_executors     = optional(number)
    }))
  }))

  validation {
    condition     = length(var.jobs) > 0 && alltrue([for name in keys(var.jobs) : can(regex("^[a-z][a-z0-9-]{0,23}$", name)) && !can(regex("^(consumer|maintain|replay)(-|$)|-(maintain|replay)$", name))])
    error_message = "The jobs of sales are ${join(", ", keys(var.jobs))}; name at least one, with up to 24 small letters, digits and dashes, a letter first, as names of jobs of the platform are."
  }
  validation {
    condition = alltrue(flatten([
      for name in keys(var.jobs) : [for other in concat(keys(var.jobs), try(keys(var.platform.jobs.named), [])) : !startswith(other, "${name}-")]
    ])) && length(setintersection(keys(var.jobs), try(keys(var.platform.jobs.named), []))) == 0
    error_message = "The jobs of sales are ${join(", ", keys(var.jobs))}, those of the platform ${join(", ", try(keys(var.platform.jobs.named), []))}; let none have the name of a job of sales, or begin with it and a dash, as the runs of its commands do."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(job.commands) > 0 && length(setsubtract(job.commands, flatten(values(local.commands)))) == 0])
    error_message = "The jobs have the commands ${jsonencode({ for name, job in var.jobs : name => job.commands })}; name for each at least one of ${join(", ", sort(flatten(values(local.commands))))}."
  }
  validation {
    condition     = alltrue(flatten([for job in values(var.jobs) : [for command in keys(job.schedules) : contains(job.commands, command) && (job.trigger == "available-now" || !contains(local.commands.streams, command))]]))
    error_message = "The jobs have schedules for ${jsonencode({ for name, job in var.jobs : name => keys(job.schedules) if length(job.schedules) > 0 })}; name commands of the job, and a stream only with trigger available-now, with which it ends."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : alltrue([for key, value in job.parameters : can(regex("^[a-z][a-z0-9_]*$", key)) && value != ""])])
    error_message = "The jobs have the parameters ${jsonencode({ for name, job in var.jobs : name => job.parameters })}; name them as flags with underscores, such as output_topic, and give none that is empty, which Parameter Store refuses."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : job.reads == null ? true : length(job.reads) > 0 && length(setsubtract(job.reads, var.platform.brokers.topics)) == 0])
    error_message = "The jobs read ${jsonencode({ for name, job in var.jobs : name => job.reads })}; name topics of the contract (${join(", ", var.platform.brokers.topics)}), at least one, or leave reads out for all of them."
  }
  validation {
    condition     = alltrue(flatten([for job in values(var.jobs) : [for table in compact([job.table, job.output_table]) : can(regex("^[a-z0-9_]+$", table))]]))
    error_message = "The jobs have the tables ${jsonencode({ for name, job in var.jobs : name => [job.table, job.output_table] })}; name tables of the lake with small letters, digits and underscores."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : can(regex("^(available-now|[1-9][0-9]* (second|minute|hour)s?)$", coalesce(job.trigger, "available-now")))])
    error_message = "The triggers are ${jsonencode({ for name, job in var.jobs : name => job.trigger })}; write available-now, or an interval like 30 seconds."
  }
  validation {
    condition     = contains(keys(var.platform.brokers.logins), "jobs") || length(setsubtract(keys(var.jobs), keys(var.platform.brokers.logins))) == 0
    error_message = "The jobs are ${join(", ", keys(var.jobs))}, and the contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}; in the producer's root, name jobs, or each job, in programs of this consumer."
  }
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
    brokers              = object({ bootstrap_servers = string, logins = map(object({ group_prefix = string, read_password = string, secret_arn = string, security = optional(string, "scram"), topics = list(string) })), tls_servers = optional(string), topics = list(string) })
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
      bucket   = object({ arn = string, name = string })
      database = object({ name = string })
    })
    network    = object({ interface_endpoints = list(string) })
    statements = object({ see_lake = string, use_lake_key = string })
  })

  validation {
    condition     = var.platform.jobs != null
    error_message = "The platform has no Spark; set spark in the consumer's root, or take sales out of extensions.tf."
  }
  validation {
    condition     = var.platform.jobs == null ? true : fileexists("${var.platform.jobs.programs}/sales/main.py")
    error_message = "There is no sales/main.py in ${try(var.platform.jobs.programs, "")}; give the folder of programs in spark.jobs of the consumer's root."
  }
  validation {
    condition     = contains(var.platform.network.interface_endpoints, "ssm")
    error_message = "The VPC has no endpoint for ssm, through which jobs of sales read their parameters; add ssm to network.interface_endpoints of the consumer's root."
  }
}
