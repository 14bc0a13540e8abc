variable "lake_formation" {
  description = "Whether Lake Formation decides on the catalog (infra/extensions/lake_formation)."
  type        = bool
  default     = false
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
    brokers              = object({ bootstrap_servers = string, logins = map(object({ read_password = string, secret_arn = string })) })
    functions = object({
      architecture         = string
      names                = list(string)
      packages             = string
      python_version       = string
      reserved_concurrency = optional(number)
    })
    jobs = object({ artifacts_bucket = object({ arn = string, name = string }) })
    lake = object({
      bucket         = object({ arn = string, name = string })
      database       = object({ name = string })
      parked_bucket  = object({ arn = string })
      parked_records = string
      tables = map(object({
        beside = list(string)
        errors = object({ arn = string, due_index = string, name = string })
        staged = bool
      }))
      workgroup = string
    })
    network = object({
      egress = map(object({
        port              = number
        to_port           = optional(number)
        cidr              = optional(string)
        prefix_list_id    = optional(string)
        security_group_id = optional(string)
      }))
      endpoint_policy     = string
      interface_endpoints = list(string)
      subnet_ids          = list(string)
      vpc_id              = string
    })
    registry  = object({ backups = string, urls = string })
    retention = object({ log_days = number })
    statements = object({
      hold_lease            = string
      read_backups          = string
      read_registry_secrets = string
      read_schemas          = string
      use_lake_key          = string
    })
    store = object({ leases = object({ name = string }) })
  })

  validation {
    condition     = var.platform.jobs != null
    error_message = "The platform has no Spark, which writes the lake; set spark in the consumer's root, or take quality out of extensions.tf."
  }
  validation {
    condition     = length(setintersection(["consumer-quality", "functions"], keys(var.platform.brokers.logins))) > 0
    error_message = "The contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}; in the producer's root, name functions, or consumer-quality, in programs of this consumer."
  }
}

variable "schedule" {
  description = "When the tables are checked: cron(...) in UTC, or rate(...)."
  type        = string
  default     = "cron(0 6 * * ? *)"
}

variable "silent_hours" {
  description = "The hours without a check after which an alarm rings; more than the schedule leaves between two checks."
  type        = number
  default     = 26

  validation {
    condition     = contains(range(1, 169), var.silent_hours)
    error_message = "silent_hours is ${var.silent_hours}; give whole hours from 1 to 168, which is the longest that an alarm looks back, and more than the schedule leaves between two checks."
  }
}

variable "tables" {
  description = "The tables that are checked, and for each the flags of `penstock quality` without dashes, mostly limits."
  type        = map(map(string))

  validation {
    condition     = length(var.tables) > 0 && length(setsubtract(keys(var.tables), keys(var.platform.lake.tables))) == 0
    error_message = "quality has the tables ${join(", ", keys(var.tables))}; name at least one, and tables of the lake that a job writes (${join(", ", keys(var.platform.lake.tables))})."
  }
  validation {
    condition     = alltrue([for name, flags in var.tables : contains(keys(flags), "missing-offsets") if try(var.platform.lake.tables[name].staged, false)])
    error_message = "quality has staged tables without missing-offsets (${join(", ", [for name, flags in var.tables : name if try(var.platform.lake.tables[name].staged, false) && !contains(keys(flags), "missing-offsets")])}); say how many records may become no row, which a plan with chosen columns leaves out, or 0."
  }
}
