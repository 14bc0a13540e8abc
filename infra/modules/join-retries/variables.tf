variable "artifacts_bucket" {
  description = "The bucket of the jobs' artifacts."
  type        = object({ arn = string })
}

variable "files" {
  description = "The S3 URLs of the jobs' files, by name."
  type        = map(string)
}

variable "joins" {
  description = "The jobs with joins by name, as infra/modules/job puts them out."
  type = map(object({
    errors        = string
    file          = string
    plan          = string
    retry_seconds = optional(number)
    schedule      = string
    statements    = string
    waiting       = string
  }))

  validation {
    condition     = alltrue([for join in values(var.joins) : fileexists(join.plan)])
    error_message = "The plans are ${join(", ", values(var.joins)[*].plan)}; give for each the path of a file."
  }
}

variable "platform" {
  description = "What the functions need of the consumer's root."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    functions = object({
      architecture         = string
      packages             = string
      python_version       = string
      reserved_concurrency = optional(number)
    })
    lake = object({ parked_bucket = object({ name = string }) })
    network = object({
      egress = map(object({
        port              = number
        to_port           = optional(number)
        cidr              = optional(string)
        prefix_list_id    = optional(string)
        security_group_id = optional(string)
      }))
      subnet_ids = list(string)
      vpc_id     = string
    })
    retention  = object({ log_days = number })
    statements = object({ hold_lease = string })
    store      = object({ leases = object({ name = string }) })
  })
}
