variable "create_registry" {
  description = "If true, creates the registry lambda-testevent-schemas; false where the account has it in this region."
  type        = bool
  default     = true
}

variable "events" {
  description = "The test events by name, each as JSON."
  type        = map(string)

  validation {
    condition     = length(var.events) > 0 && alltrue([for event in values(var.events) : can(jsondecode(event))])
    error_message = "The events are ${jsonencode(var.events)}; give at least one, each as JSON, such as jsonencode({ temperature = 30 })."
  }
}

variable "functions" {
  description = "The names of the functions that get these events."
  type        = set(string)
}
