variable "account_id" {
  description = "The account of the key; its IAM policies decide who may use it."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "alias" {
  description = "The alias of the key, without `alias/`."
  type        = string
}

variable "deletion_days" {
  description = "The days after which KMS destroys a key that Terraform deletes."
  type        = number
  default     = 30

  validation {
    condition     = contains(range(7, 31), var.deletion_days)
    error_message = "deletion_days is ${var.deletion_days}; KMS allows 7 to 30."
  }
}

variable "description" {
  description = "The description of the key, which says what the key is for."
  type        = string
}

variable "services" {
  description = "AWS services that use the key, with their actions and conditions, by the Sid of their statement in the key policy."
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
    error_message = "services has ${join(", ", [for sid, use in var.services : "${sid} = ${use.service}"])}; use letters and digits for names, and principals such as s3.amazonaws.com for services."
  }
}
