variable "account_id" {
  description = "The account of the bucket."
  type        = string
}

variable "functions" {
  description = "The names of the producer functions, with which the keys of their events begin."
  type        = set(string)
  default     = []
}

variable "keep_days" {
  description = "Retention of rejected events in days; null keeps them until they are replayed, which deletes them."
  type        = number
  default     = null

  validation {
    condition     = var.keep_days == null ? true : var.keep_days >= 1
    error_message = "keep_days is ${coalesce(var.keep_days, 0)}; give at least 1, the time that people have to send an event again."
  }
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "region" {
  description = "The region of the bucket."
  type        = string
}

variable "retention" {
  description = "Retention: force_destroy deletes the bucket with its events; days until a deleted key is gone."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
  })
  default = {}
}
