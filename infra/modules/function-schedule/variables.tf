variable "account_id" {
  description = "The account of the schedule."
  type        = string
}

variable "expression" {
  description = "The times at which the function is invoked: rate(5 minutes), or cron(0 6 ? * MON-FRI *) in UTC."
  type        = string
  default     = "rate(5 minutes)"
}

variable "function" {
  description = "The function that is invoked: name and ARN."
  type        = object({ arn = string, name = string })
}

variable "name" {
  description = "The name of the schedule and its group; its role has -schedule behind it."
  type        = string
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

variable "region" {
  description = "The region of the schedule."
  type        = string
}
