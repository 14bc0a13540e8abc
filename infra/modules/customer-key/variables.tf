variable "account_id" {
  description = "The account that the key is in, whose own policies decide who may use it."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "alias" {
  description = "The name that people find the key by."
  type        = string
}

variable "deletion_days" {
  description = "Days that a deleted key can be brought back."
  type        = number
  default     = 30

  validation {
    condition     = contains(range(7, 31), var.deletion_days)
    error_message = "A deleted key would be gone after ${var.deletion_days} days; KMS takes 7 to 30."
  }
}

variable "description" {
  description = "What is encrypted with it."
  type        = string
}

variable "services" {
  description = "Services of AWS that use the key for themselves, by what they do with it (the statement's Sid): their principal, their actions and on what conditions."
  type = map(object({
    service    = string
    actions    = optional(list(string), ["kms:Decrypt", "kms:GenerateDataKey"])
    conditions = optional(map(map(string)), {})
  }))
  default = {}

  validation {
    condition = alltrue([
      for sid, use in var.services : can(regex("^[A-Za-z0-9]+$", sid)) && endswith(use.service, ".amazonaws.com")
    ])
    error_message = "services has ${join(", ", [for sid, use in var.services : "${sid} = ${use.service}"])}; name each in letters and digits, and give the service's principal, such as s3.amazonaws.com."
  }
}
