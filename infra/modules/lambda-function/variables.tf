variable "account_id" {
  description = "The account of the function."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "dead_letters" {
  description = "Failed events of asynchronous invocations are kept in a dead-letter queue, which takes 256 KiB, and in this bucket, which policy_json must allow, below aws/lambda/async/NAME/; null for neither."
  type        = object({ bucket_arn = string })
  default     = null
}

variable "description" {
  description = "The function's description in the console."
  type        = string

  validation {
    condition     = length(var.description) <= 256
    error_message = "The description has ${length(var.description)} characters; shorten it to 256."
  }
}

variable "environment" {
  description = "The function's environment variables, none of them secret."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for name in keys(var.environment) : !startswith(name, "AWS_")])
    error_message = "The environment has ${join(", ", keys(var.environment))}; take out what begins with AWS_, which Lambda sets itself."
  }
}

variable "log_days" {
  description = "Days that its log is kept."
  type        = number
  default     = 365
}

variable "memory_mib" {
  description = "Memory in MiB; CPU grows with it."
  type        = number
  default     = 512

  validation {
    condition     = var.memory_mib >= 128 && var.memory_mib <= 10240
    error_message = "memory_mib is ${var.memory_mib}; give 128 to 10240."
  }
}

variable "name" {
  description = "The name of the function, its role, its security group and its log."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_-]{1,64}$", var.name))
    error_message = "The name is ${var.name}; use up to 64 letters, digits, dashes and underscores."
  }
}

variable "network" {
  description = "The VPC, subnets and egress of the function: each rule is a TCP port (or the ports up to to_port) of a range of addresses (cidr), a prefix list or a security group, by name."
  type = object({
    vpc_id     = string
    subnet_ids = list(string)
    egress = map(object({
      port              = number
      to_port           = optional(number)
      cidr              = optional(string)
      prefix_list_id    = optional(string)
      security_group_id = optional(string)
    }))
  })

  validation {
    condition     = length(var.network.subnet_ids) > 0
    error_message = "network.subnet_ids is empty; give at least one subnet."
  }
  validation {
    condition = alltrue([
      for way in values(var.network.egress) :
      length([for target in [way.cidr, way.prefix_list_id, way.security_group_id] : target if target != null]) == 1
    ])
    error_message = "The egress ${join(", ", keys(var.network.egress))} leads to none or several of cidr, prefix_list_id and security_group_id; give each way one of them."
  }
}

variable "package" {
  description = "The zip of `make build`, its Python version and architecture, and whether it is published and starts from a snapshot (SnapStart)."
  type = object({
    path           = string
    architecture   = optional(string, "arm64")
    python_version = optional(string, "3.13")
    snap_start     = optional(bool, false)
  })

  validation {
    condition     = fileexists(var.package.path)
    error_message = "There is no file ${var.package.path}; make it with `make build`."
  }
  validation {
    condition     = contains(local.python_versions, var.package.python_version)
    error_message = "python_version is ${var.package.python_version}; choose one of ${join(", ", local.python_versions)}, the one that the zip was made for."
  }
  validation {
    condition     = contains(["arm64", "x86_64"], var.package.architecture)
    error_message = "The architecture is ${var.package.architecture}; choose arm64 or x86_64, the one that the zip was made for."
  }
  validation {
    condition     = !var.package.snap_start || var.package.python_version != "3.11"
    error_message = "python_version is ${var.package.python_version}, with which Lambda has no SnapStart; choose 3.12 or later, or leave snap_start out."
  }
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of the function's role; null for none."
  type        = string
  default     = null
}

variable "policy_json" {
  description = "The IAM policy of the function, besides what every function needs."
  type        = string

  validation {
    condition     = can(jsondecode(var.policy_json).Statement)
    error_message = "policy_json is no policy; give JSON with a Statement."
  }
}

variable "region" {
  description = "The region of the function."
  type        = string
}

variable "reserved_concurrency" {
  description = "The reserved concurrency; null for none."
  type        = number
  default     = null

  validation {
    condition     = var.reserved_concurrency == null ? true : var.reserved_concurrency >= 0
    error_message = "reserved_concurrency is below zero; give zero (it never runs) or more, or null for no limit."
  }
}

variable "timeout_seconds" {
  description = "The time-out of an invocation in seconds."
  type        = number
  default     = 60

  validation {
    condition     = var.timeout_seconds >= 1 && var.timeout_seconds <= 900
    error_message = "timeout_seconds is ${var.timeout_seconds}; give 1 to 900."
  }
}

variable "tracing" {
  description = "If true, traces every invocation with X-Ray; false only those whose caller traces."
  type        = bool
  default     = true
}
