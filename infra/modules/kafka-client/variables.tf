variable "egress" {
  description = "The egress rules of the client, by name: each is a TCP port (or the ports up to to_port) of a range of addresses (cidr), a prefix list or a security group."
  type = map(object({
    port              = number
    to_port           = optional(number)
    cidr              = optional(string)
    prefix_list_id    = optional(string)
    security_group_id = optional(string)
  }))
  default = {}
}

variable "name" {
  description = "The name of the client."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,23}$", var.name))
    error_message = "The client is called ${var.name}; use up to 24 small letters, digits and dashes, a letter first."
  }
}

variable "policy_json" {
  description = "The policy of the client's role, as JSON."
  type        = string
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "role_name" {
  description = "The role that the policy is attached to; null leaves that to the role's owner."
  type        = string
  default     = null
}

variable "security_group_id" {
  description = "The client's own security group."
  type        = string

  validation {
    condition     = startswith(var.security_group_id, "sg-")
    error_message = "security_group_id is ${var.security_group_id}; give the id of a security group, which begins with sg-."
  }
}
