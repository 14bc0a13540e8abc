variable "expiry" {
  description = "Life cycle rules by name: objects that are deleted after some days, all or those below a prefix."
  type = map(object({
    days   = number
    prefix = optional(string, "")
  }))
  default = {}

  validation {
    condition     = alltrue([for rule in values(var.expiry) : rule.days >= 1])
    error_message = "expiry has ${join(", ", [for name, rule in var.expiry : "${name} = ${rule.days}"])}; give each at least 1 day, or leave the rule out to keep objects forever."
  }
}

variable "force_destroy" {
  description = "If true, deletes the bucket with all its objects on destroy."
  type        = bool
  default     = false
}

variable "kms_key_arn" {
  description = "The KMS key of the objects."
  type        = string
}

variable "name" {
  description = "The bucket's name, globally unique."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", var.name))
    error_message = "The bucket's name ${var.name} has ${length(var.name)} characters; use 3 to 63 small letters, digits and dashes, so shorten the prefix."
  }
}

variable "outlived_by" {
  description = "Resources that are destroyed only after the bucket, such as the database of the tables in it."
  type        = list(string)
  default     = []
}

variable "replaced_days" {
  description = "Retention of replaced and deleted versions in days."
  type        = number
  default     = 30

  validation {
    condition     = var.replaced_days >= 1
    error_message = "replaced_days is ${var.replaced_days}; give at least 1, the time in which a mistake can be undone."
  }
}

variable "replaced_days_below" {
  description = "Retention of replaced and deleted versions in days by prefix, where it is shorter."
  type        = map(number)
  default     = {}

  validation {
    condition     = alltrue([for days in values(var.replaced_days_below) : days >= 1])
    error_message = "replaced_days_below has ${jsonencode(var.replaced_days_below)}; give each at least 1, the time in which a mistake can be undone."
  }
}
