variable "account_id" {
  description = "The account of the topic, on whose behalf its publishers must act."
  type        = string
}

variable "kms_key_arn" {
  description = "The KMS key of the messages; its policy must allow the publishers to use it."
  type        = string
}

variable "name" {
  description = "The topic's name."
  type        = string
}

variable "publishers" {
  description = "The AWS services that publish, each with the conditions of the policy besides the account; null for no conditions, not even the account, as EventBridge requires."
  type        = map(map(map(string)))

  validation {
    condition = alltrue([
      for service, conditions in var.publishers : endswith(service, ".amazonaws.com") && !contains(try(keys(conditions), []), "StringEquals")
    ])
    error_message = "publishers is ${jsonencode(var.publishers)}; give principals of services, such as s3.amazonaws.com, and conditions other than StringEquals, which holds the account."
  }
}

variable "region" {
  description = "The region of the topic."
  type        = string
}

variable "subscribers" {
  description = "E-mail addresses that are subscribed to the topic."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for address in var.subscribers : can(regex("^[^@ ]+@[^@ ]+$", address))])
    error_message = "The subscribers are ${join(", ", var.subscribers)}; give e-mail addresses."
  }
}
