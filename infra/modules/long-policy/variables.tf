variable "policies" {
  description = "The IAM policies by name; each statement has a Sid, an Action and a Resource."
  type        = map(string)

  validation {
    condition     = length(var.policies) > 0 && alltrue([for policy in values(var.policies) : can(jsondecode(policy).Statement[*].Sid) && can(jsondecode(policy).Statement[*].Resource)])
    error_message = "The policies are ${join(", ", keys(var.policies))}; give at least one, each JSON with statements that have a Sid and a Resource."
  }
}

variable "role_name" {
  description = "The name of the role, with which the names of the policies begin."
  type        = string
}
