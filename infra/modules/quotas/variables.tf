variable "check" {
  description = "Whether the quotas are read."
  type        = bool
  default     = true
}

variable "makes_vpc" {
  description = "Whether the root makes a VPC of its own."
  type        = bool
}

variable "prefix" {
  description = "The name of its VPC."
  type        = string
}

variable "wanted" {
  description = "The quotas by name: the service and the code of each, what is needed, and what needs it, as a sentence about the root; 0 is not read."
  type        = map(object({ code = string, does = string, needed = number, service = string }))
  default     = {}
}
