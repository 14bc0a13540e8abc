variable "bootstrap_servers" {
  description = "The brokers, as host:port separated by commas."
  type        = string
}

variable "functions" {
  description = "The functions by name: the names of their tables, of the function, its memory, and its topics."
  type = map(object({
    errors     = string
    function   = string
    memory_mib = number
    table      = string
    topics     = set(string)
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
    condition     = alltrue([for function in values(var.functions) : length(function.topics) > 0 && length(setsubtract(function.topics, var.platform.brokers.topics)) == 0])
    error_message = "The consumer functions read ${jsonencode({ for name, function in var.functions : name => function.topics })}; name topics of the contract (${join(", ", var.platform.brokers.topics)}), at least one, or leave topics out for all of them."
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
    brokers              = object({ group_prefix = string, secret_arn = string, topics = list(string) })
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

variable "secret_name" {
  description = "The name of the secret with the Kafka login."
  type        = string
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
