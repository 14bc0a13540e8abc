variable "account_id" {
  description = "The account of the key; its IAM policies decide who may use it."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "alias" {
  description = "The alias of the key."
  type        = string
}

variable "deletion_days" {
  description = "Days until a deleted key is gone."
  type        = number
  default     = 30

  validation {
    condition     = contains(range(7, 31), var.deletion_days)
    error_message = "A deleted key would be gone after ${var.deletion_days} days; KMS takes 7 to 30."
  }
}

variable "description" {
  description = "The purpose of the key, for its description."
  type        = string
}

variable "services" {
  description = "AWS services that use the key, by the statement's Sid: principal, actions and conditions."
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
