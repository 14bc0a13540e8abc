variable "account_id" {
  description = "The account that the bucket is in."
  type        = string
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
}

variable "region" {
  description = "The region that the bucket is in."
  type        = string
}

variable "retention" {
  description = "What may be lost: the bucket with its events (force_destroy), and the days until a deleted key is gone."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
  })
  default = {}
}
