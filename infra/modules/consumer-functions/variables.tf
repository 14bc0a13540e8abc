variable "bootstrap_servers" {
  description = "The brokers, as host:port separated by commas."
  type        = string
}

variable "functions" {
  description = "The functions by name: the names of their tables, of the function, its memory, its topics, and whether it starts from a snapshot."
  type = map(object({
    errors     = string
    function   = string
    memory_mib = number
    table      = string
    topics     = optional(set(string)) # all that its Kafka user may read
    snap_start = optional(bool, false)
  }))

  validation {
    # The registry's role of this consumer trusts roles of these names.
    condition     = alltrue([for name in keys(var.functions) : can(regex("^consumer(-[a-z0-9-]{1,23})?$", name))])
    error_message = "The consumer functions are ${join(", ", keys(var.functions))}; call each consumer, or consumer- and up to 23 small letters, digits and dashes."
  }
  validation {
    condition     = alltrue([for function in values(var.functions) : can(regex("^[a-z0-9_]+$", function.table)) && !contains(["dead_letters", "errors", "function_leases", "parked_records"], function.table)])
    error_message = "The consumer functions write ${join(", ", values(var.functions)[*].table)}; name tables with small letters, digits and underscores, and none dead_letters, errors, function_leases or parked_records, which are other tables."
  }
  validation {
    condition     = alltrue([for name in keys(var.functions) : contains(keys(var.platform.brokers.logins), name) || contains(keys(var.platform.brokers.logins), "functions")])
    error_message = "The consumer functions are ${join(", ", keys(var.functions))}, and the contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}; in the producer's root, name functions, or each function, in programs of this consumer."
  }
  validation {
    condition     = alltrue([for name, function in var.functions : function.topics == null ? true : length(function.topics) > 0 && length(setsubtract(function.topics, try(lookup(var.platform.brokers.logins, name, lookup(var.platform.brokers.logins, "functions", null)).topics, function.topics))) == 0])
    error_message = "The consumer functions read ${jsonencode({ for name, function in var.functions : name => function.topics })}; name topics that their Kafka users may read (${jsonencode({ for name, login in var.platform.brokers.logins : name => login.topics })}), at least one, or leave topics out for all of them."
  }
  validation {
    condition     = alltrue([for name, function in var.functions : startswith("${var.platform.brokers.group_prefix}${function.function}-", try(lookup(var.platform.brokers.logins, name, lookup(var.platform.brokers.logins, "functions", null)).group_prefix, ""))])
    error_message = "The groups of the functions begin with ${join(", ", [for function in values(var.functions) : "${var.platform.brokers.group_prefix}${function.function}-"])}, and their Kafka users may join ${jsonencode({ for name, login in var.platform.brokers.logins : name => login.group_prefix })}; in the producer's root, give their program such a group_prefix."
  }
}

variable "mapping" {
  description = "The event source mappings; infra/modules/kafka-mapping says what each attribute means."
  type = object({
    batching            = optional(object({ size = optional(number), window_seconds = optional(number) }), {})
    park_failed_batches = bool
    provisioned         = optional(object({ minimum_pollers = optional(number), maximum_pollers = optional(number) }))
  })
}

variable "platform" {
  description = "What the functions need of the consumer's root."
  type = object({
    account_id           = string
    permissions_boundary = optional(string)
    region               = string
    brokers              = object({ group_prefix = string, logins = map(object({ group_prefix = string, secret_arn = string, secret_name = string, topics = list(string) })), servers = string })
    functions            = object({ architecture = string, packages = string, python_version = string })
    lake                 = object({ parked_bucket = object({ arn = string, name = string }) })
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
    registry   = object({ backups = string, urls = string })
    retention  = object({ log_days = number })
    statements = object({ read_backups = string, read_registry_secrets = string, read_schemas = string })
    store      = object({ errors = map(object({ name = string })), readings = map(object({ name = string })) })
  })
}

variable "shapes" {
  description = "The settings of tables, as infra/modules/row-shapes puts them out."
  type        = map(object({ settings = map(string) }))
}

variable "unframed" {
  description = "The schemas of topics without frames, as TOPIC=ID separated by commas."
  type        = string
  default     = ""
}

variable "writers" {
  description = "The statements of each function, as infra/modules/rights puts them out."
  type        = map(object({ keep_errors = string, use_keys = string, write_rows = string }))
}
