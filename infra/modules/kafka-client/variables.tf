variable "account_id" {
  description = "The account that the cluster and the registry are in."
  type        = string
}

variable "cluster_name" {
  description = "The name of the MSK cluster."
  type        = string
}

variable "egress" {
  description = "The egress rules of the client, by name: the port of a security group."
  type = map(object({
    port              = number
    security_group_id = string
  }))
  default = {}
}

variable "name" {
  description = "The name of the client, and the prefix of its consumer groups, before a dash."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,23}$", var.name))
    error_message = "The client is called ${var.name}; use up to 24 small letters, digits and dashes, a letter first."
  }
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "reads" {
  description = "The topics that it reads."
  type        = set(string)
  default     = []
}

variable "region" {
  description = "The region of the cluster and the registry."
  type        = string
}

variable "registry" {
  description = "The name of the Glue registry, where the client registers schemas under the names of the topics that it writes."
  type        = string
}

variable "security_group_id" {
  description = "The client's own security group."
  type        = string

  validation {
    condition     = startswith(var.security_group_id, "sg-")
    error_message = "security_group_id is ${var.security_group_id}; give the id of a security group, which begins with sg-."
  }
}

variable "writes" {
  description = "The topics that it writes."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for topic in var.writes : can(regex("^[A-Za-z0-9._-]{1,249}$", topic))])
    error_message = "The topics are ${join(", ", var.writes)}; use up to 249 letters, digits, dots, dashes and underscores for each."
  }
}
