variable "charges" {
  description = "The services whose charges are shown, as AWS/Billing names them."
  type        = set(string)
}

variable "cluster" {
  description = "The MSK cluster: its name, number of brokers and topics, and whether it has metrics of the level PER_BROKER or above; null for none."
  type = object({
    name         = string
    broker_count = number
    per_broker   = optional(bool, false)
    topics       = optional(set(string), [])
  })
  default = null
}

variable "consumers" {
  description = "The names of the consumer functions."
  type        = set(string)
  default     = []
}

variable "dead_letter_queues" {
  description = "The names of the dead-letter queues of functions."
  type        = set(string)
  default     = []
}

variable "functions" {
  description = "The names of all Lambda functions."
  type        = set(string)
  default     = []
}

variable "jobs" {
  description = "The names of the Spark jobs, as they are in their metrics."
  type        = set(string)
  default     = []
}

variable "prefix" {
  description = "The prefix of all names, which is the dashboard's name."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "The prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first."
  }
}

variable "producers" {
  description = "The producer functions by name: function and schema."
  type        = map(object({ function = string, schema = string }))
  default     = {}
}

variable "region" {
  description = "The region of the metrics."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "tables" {
  description = "The names of the tables: those of dead letters, and those of readings."
  type = object({
    errors   = optional(set(string), [])
    readings = optional(set(string), [])
  })
  default = {}
}
