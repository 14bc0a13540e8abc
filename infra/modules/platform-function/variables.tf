variable "alarms" {
  description = "Alarms besides those of errors, refused calls and the schedule of its name, as infra/modules/metric-alarms takes them."
  type = map(object({
    comparison  = optional(string)
    description = string
    dimensions  = map(string)
    metric      = string
    minutes     = optional(number)
    missing     = optional(string)
    namespace   = string
    periods     = optional(number)
    section     = optional(string)
    silence     = optional(bool)
    statistic   = optional(string)
    threshold   = optional(number)
  }))
  default = {}
}

variable "description" {
  description = "The function's description in the console."
  type        = string
}

variable "environment" {
  description = "The function's environment variables besides those of its lease and its settings, none of them secret."
  type        = map(string)
  default     = {}
}

variable "name" {
  description = "The name of the function without the prefix; one that reads schemas begins with consumer-, whose roles the producer trusts."
  type        = string

  validation {
    condition     = !contains(var.platform.functions.names, var.name)
    error_message = "A consumer function is called ${var.name}, as the function of this extension is; give it another name in consumer_functions."
  }
}

variable "package" {
  description = "The name of its zip of `make build`, without -lambda.zip."
  type        = string
}

variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    alarms               = object({ topic_arn = string })
    functions = object({
      architecture         = string
      names                = list(string)
      packages             = string
      python_version       = string
      reserved_concurrency = optional(number)
    })
    jobs = object({ artifacts_bucket = object({ arn = string, name = string }) })
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

variable "settings" {
  description = "What the function reads from S3: the name, of which PENSTOCK_NAME names the file, and its content; null for none."
  type        = object({ name = string, content = string })
  default     = null
}

variable "statements_json" {
  description = "The statements of its IAM policy besides those of its lease and its settings, as a JSON list."
  type        = string
}

variable "timeout_seconds" {
  description = "The time-out of an invocation in seconds."
  type        = number
  default     = 300
}

variable "ways_out" {
  description = "The names of the ways out of the platform that it takes; brokers and endpoints let it in."
  type        = set(string)
}
