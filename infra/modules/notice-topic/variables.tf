variable "account_id" {
  description = "The account that the topic is in, and that its publisher must act for."
  type        = string
}

variable "kms_key_arn" {
  description = "The key that notices are encrypted with, whose policy must let the publisher use it."
  type        = string
}

variable "name" {
  description = "The topic's name."
  type        = string
}

variable "publisher" {
  description = "The service of AWS that publishes, and on what conditions besides the account, as in a policy."
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
  description = "The region that the topic is in."
  type        = string
}

variable "subscribers" {
  description = "E-mail addresses that notices are sent to."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for address in var.subscribers : can(regex("^[^@ ]+@[^@ ]+$", address))])
    error_message = "The subscribers are ${join(", ", var.subscribers)}; give e-mail addresses."
  }
}
