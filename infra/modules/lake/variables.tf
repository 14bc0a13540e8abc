variable "account_id" {
  description = "The account that the lake is in."
  type        = string
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
}

variable "retention" {
  description = "What may be lost: buckets with their objects and the work group with its queries (force_destroy), and the days until a deleted key is gone."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
  })
  default = {}
}

variable "subscribers" {
  description = "E-mail addresses that are told of parked records."
  type        = set(string)
  default     = []
}
