variable "account_id" {
  description = "The account of the lake."
  type        = string
}

variable "keep_days" {
  description = "Retention in days: parked batches and records, query results, replaced versions of objects, and of files of tables and checkpoints; table data and the bytes of dead letters stay."
  type = object({
    parked         = optional(number, 365)
    replaced       = optional(number, 30)
    replaced_files = optional(number, 3)
    results        = optional(number, 7)
  })
  default = {}

  validation {
    condition     = min(values(var.keep_days)...) >= 1
    error_message = "keep_days has ${jsonencode(var.keep_days)}; give each at least 1."
  }
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "query_limit_bytes" {
  description = "The limit of bytes scanned per query, 100 GiB by default."
  type        = number
  default     = 107374182400

  validation {
    condition     = var.query_limit_bytes >= 10485760
    error_message = "query_limit_bytes is ${var.query_limit_bytes}; Athena allows no less than 10485760, which is 10 MiB."
  }
}

variable "region" {
  description = "The region of the lake."
  type        = string
}

variable "retention" {
  description = "Retention: force_destroy deletes buckets with their objects and the work group with its queries; days until a deleted key is gone."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
  })
  default = {}
}

variable "subscribers" {
  description = "E-mail addresses that are notified of parked records."
  type        = set(string)
  default     = []
}
