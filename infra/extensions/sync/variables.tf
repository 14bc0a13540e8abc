variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    alarms               = object({ topic_arn = string })
    functions = object({
      architecture         = string
      names                = list(string)
      packages             = string
      python_version       = string
      reserved_concurrency = optional(number)
    })
    jobs = object({ artifacts_bucket = object({ arn = string, name = string }) })
    lake = object({
      bucket   = object({ arn = string })
      database = object({ name = string })
      tables   = map(object({ staged = bool }))
    })
    network = object({
      egress = map(object({
        port              = number
        to_port           = optional(number)
        cidr              = optional(string)
        prefix_list_id    = optional(string)
        security_group_id = optional(string)
      }))
      subnet_ids = list(string)
      vpc_id     = string
    })
    registry  = object({ has_others = bool, urls = string })
    retention = object({ log_days = number })
    statements = object({
      hold_lease            = string
      read_registry_secrets = string
      read_schemas          = string
      use_lake_key          = string
    })
    store = object({ leases = object({ name = string }) })
  })

  validation {
    condition     = var.platform.jobs != null
    error_message = "The platform has no Spark, which writes the lake; set spark in the consumer's root, or take sync out of extensions.tf."
  }
}

variable "schedule" {
  description = "When columns are compared with schemas: rate(...), or cron(...) in UTC."
  type        = string
  default     = "rate(5 minutes)"
}

variable "tables" {
  description = "The tables that grow, and for each the names of the schemas whose records it holds."
  type        = map(set(string))

  validation {
    condition     = length(var.tables) > 0 && length(setsubtract(keys(var.tables), [for name, table in var.platform.lake.tables : name if !table.staged])) == 0 && alltrue([for schemas in values(var.tables) : length(schemas) > 0])
    error_message = "sync has the tables ${jsonencode(var.tables)}; name at least one, tables of the lake that a job without staging writes, and for each the schemas whose records it holds."
  }
}
