variable "bucket" {
  description = "The bucket of rejected events, in the account of the producer functions; null in others."
  type        = object({ arn = string, name = string })
  default     = null
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of its roles; null for none."
  type        = string
  default     = null
}

variable "platform" {
  description = "The account: its names, network, functions and alarms, as the consumer's root puts it out."
  type = object({
    account_id = string
    partition  = string
    prefix     = string
    region     = string
    alarms     = object({ topic_arn = string })
    functions = object({
      architecture         = string
      packages             = string
      python_version       = string
      reserved_concurrency = optional(number)
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
    retention = object({ log_days = number })
  })
}

variable "producers" {
  description = "The producer functions by the prefix of their alarms: function name, schema, registry, and of those that register versions their policy and the version budget."
  type = map(object({
    function       = string
    policy         = optional(string)
    registry       = object({ secret_arn = optional(string), url = string })
    schema         = string
    version_budget = optional(number)
  }))
  default = {}

  validation {
    # As main.tf writes them, which says 30 characters more of each.
    condition     = length(join("", concat(distinct(values(var.producers)[*].registry.url), [for one in values(var.producers) : "${one.function}${one.schema}"]))) + 30 * length(var.producers) <= 3800
    error_message = "The ${length(var.producers)} producers have names, schemas and registries that are too long for the 4 KB of a function's variables; shorten them, or apply some, with their topics, from a second producer's root, which is another cluster."
  }
}

variable "status" {
  description = "The minutes between two counts; above how many kept events and open dead letters, and below how many versions left (a fifth of the budget unless given), an alarm starts."
  type = object({
    dead_letters  = optional(number, 0)
    kept_events   = optional(number, 0)
    minutes       = optional(number, 5)
    versions_left = optional(number)
  })
  default = {}

  validation {
    condition     = contains(range(1, 61), var.status.minutes)
    error_message = "status.minutes is ${var.status.minutes}; give whole minutes from 1 to 60."
  }
  validation {
    # More than are counted would never be reached.
    condition     = alltrue([for most in [var.status.dead_letters, var.status.kept_events] : most >= 0 && most < 10000])
    error_message = "status.dead_letters is ${var.status.dead_letters} and status.kept_events ${var.status.kept_events}; give 0 to 9999, as no more than 10000 are counted."
  }
  validation {
    condition     = coalesce(var.status.versions_left, 1) >= 1
    error_message = "status.versions_left is ${coalesce(var.status.versions_left, 0)}; give 1 or more."
  }
}

variable "tables" {
  description = "The dead-letter tables by the prefix of their alarms: name, ARN and the index that has open rows alone."
  type        = map(object({ arn = string, due_index = string, name = string }))
  default     = {}
}
