variable "account_id" {
  description = "The account that the lake is in."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "keep_days" {
  description = "Days that things are kept: parked records, results of queries, and versions of objects after they were replaced; table data stays."
  type = object({
    parked   = optional(number, 365)
    replaced = optional(number, 30)
    results  = optional(number, 7)
  })
  default = {}

  validation {
    condition     = min(values(var.keep_days)...) >= 1
    error_message = "keep_days has ${jsonencode(var.keep_days)}; give each at least 1."
  }
}

variable "prefix" {
  description = "What the names begin with."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "The prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first, so that names of buckets fit into 63."
  }
}

variable "query_limit_bytes" {
  description = "Bytes that one query may scan before Athena ends it, 100 GiB unless given."
  type        = number
  default     = 107374182400

  validation {
    condition     = var.query_limit_bytes >= 10485760
    error_message = "query_limit_bytes is ${var.query_limit_bytes}; Athena takes no less than 10485760, which is 10 MiB."
  }
}

variable "region" {
  description = "The region that the lake is in."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "retention" {
  description = "What may be lost: buckets with their objects and the work group with its queries (force_destroy), and the days until a deleted key is gone."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
  })
  default = {}

  validation {
    condition     = var.retention.key_deletion_days >= 7 && var.retention.key_deletion_days <= 30
    error_message = "key_deletion_days is ${var.retention.key_deletion_days}; KMS takes 7 to 30."
  }
}

variable "subscribers" {
  description = "E-mail addresses that are told of parked records."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for address in var.subscribers : can(regex("^[^@ ]+@[^@ ]+$", address))])
    error_message = "The subscribers are ${join(", ", var.subscribers)}; give e-mail addresses."
  }
}
