variable "alarms" {
  description = "The alarms by name: what to do, the metric, and where it differs from a count in 5 minutes above 0; silence publishes a metric that stops, section is that of docs/operate/alarms.md."
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

  validation {
    condition     = alltrue([for alarm in values(var.alarms) : contains(["breaching", "ignore", "missing", "notBreaching"], coalesce(alarm.missing, "missing"))])
    error_message = "Missing data is ${jsonencode({ for name, alarm in var.alarms : name => alarm.missing })}; choose breaching, ignore, missing or notBreaching."
  }
  # CloudWatch refuses others when it makes the alarm.
  validation {
    condition = alltrue([
      for alarm in values(var.alarms) :
      coalesce(alarm.minutes, 5) >= 1 && floor(coalesce(alarm.minutes, 5)) == coalesce(alarm.minutes, 5) && coalesce(alarm.minutes, 5) * coalesce(alarm.periods, 1) <= (coalesce(alarm.minutes, 5) < 60 ? 1440 : 10080)
    ])
    error_message = "The alarms look back over ${jsonencode({ for name, alarm in var.alarms : name => "${coalesce(alarm.minutes, 5)} minutes x ${coalesce(alarm.periods, 1)}" })}; give whole minutes from 1 on, at most a day (1440) in all, or a week (10080) with minutes of 60 and more."
  }
}

variable "functions" {
  description = "The names of functions, whose errors and refused calls are watched."
  type        = set(string)
  default     = []
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "schedules" {
  description = "The names of schedules and of their groups, whose dropped invocations are watched."
  type        = set(string)
  default     = []
}

variable "topic_arn" {
  description = "The SNS topic that alarms are published to, when they start and when they end."
  type        = string
}
