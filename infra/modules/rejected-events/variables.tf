variable "account_id" {
  description = "The account that the bucket is in."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "keep_days" {
  description = "Days that an event can be looked at and sent again before it is deleted."
  type        = number
  default     = 365

  validation {
    condition     = var.keep_days >= 1
    error_message = "keep_days is ${var.keep_days}; give at least 1, the time that people have to send an event again."
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

variable "region" {
  description = "The region that the bucket is in."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "retention" {
  description = "What may be lost: the bucket with its events (force_destroy), and the days until a deleted key is gone."
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
