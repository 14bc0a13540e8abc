variable "account_id" {
  description = "The account of the schedule."
  type        = string
}

variable "expression" {
  description = "The times at which the target is called: rate(5 minutes), or cron(0 6 ? * MON-FRI *) in UTC."
  type        = string

  validation {
    condition     = can(regex("^(rate\\((1 (minute|hour|day)|[1-9][0-9]* (minutes|hours|days))\\)|cron\\(\\S+ \\S+ \\S+ \\S+ \\S+ \\S+\\))$", var.expression))
    error_message = "The expression is ${var.expression}; write rate(5 minutes), rate(1 hour) or cron(...) with six fields."
  }
}

variable "name" {
  description = "The name of the schedule and its group; its role has -schedule behind it."
  type        = string

  validation {
    condition     = can(regex("^[0-9a-zA-Z_-]{1,55}$", var.name))
    error_message = "The name is ${var.name}; use up to 55 letters, digits, dashes and underscores, since the role has -schedule behind it."
  }
}

variable "partition" {
  description = "The partition of the region, such as aws."
  type        = string
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of its role; null for none."
  type        = string
  default     = null
}

variable "policy_json" {
  description = "The IAM policy of its role: what the call of the target needs."
  type        = string
}

variable "region" {
  description = "The region of the schedule."
  type        = string
}

variable "target" {
  description = "What is called: the ARN of a function or of a universal target, its input as JSON, in which the scheduler fills in what it knows, such as <aws.scheduler.scheduled-time>, and a description."
  type        = object({ arn = string, description = string, input = string })
}
