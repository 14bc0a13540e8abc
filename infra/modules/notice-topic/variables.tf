variable "account_id" {
  description = "The account of the topic, on whose behalf its publisher must act."
  type        = string
}

variable "kms_key_arn" {
  description = "The KMS key of the messages; its policy must allow the publisher to use it."
  type        = string
}

variable "name" {
  description = "The topic's name."
  type        = string
}

variable "publisher" {
  description = "The AWS service that publishes, with the conditions of the policy besides the account."
  type = object({
    service    = string
    conditions = map(map(string))
  })

  validation {
    condition     = endswith(var.publisher.service, ".amazonaws.com") && !contains(keys(var.publisher.conditions), "StringEquals")
    error_message = "publisher is ${jsonencode(var.publisher)}; give the service's principal, such as s3.amazonaws.com, and conditions other than StringEquals, which holds the account."
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
