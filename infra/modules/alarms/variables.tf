variable "account_id" {
  description = "The account of the alarms."
  type        = string
}

variable "cluster" {
  description = "The MSK cluster to watch: its name and number of brokers, and whether it has metrics of the level PER_BROKER or above; null for none."
  type = object({
    name         = string
    broker_count = number
    per_broker   = optional(bool, false)
  })
  default = null

  validation {
    condition     = try(var.cluster.broker_count >= 1, var.cluster == null)
    error_message = "The cluster has ${try(var.cluster.broker_count, 0)} brokers; give at least 1, or no cluster (a serverless one has no brokers to watch)."
  }
}

variable "consumers" {
  description = "The names of the consumer functions whose metrics are watched."
  type        = set(string)
  default     = []
}

variable "dead_letter_queues" {
  description = "The names of the dead-letter queues to watch."
  type        = set(string)
  default     = []
}

variable "endpoint_services" {
  description = "By broker id, its endpoint service, whose resets and rejected endpoints are published."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for id in values(var.endpoint_services) : startswith(id, "vpce-svc-")])
    error_message = "The endpoint services are ${join(", ", values(var.endpoint_services))}; give ids, which begin with vpce-svc-."
  }
}

variable "functions" {
  description = "The names of the Lambda functions to watch."
  type        = set(string)
  default     = []
}

variable "lag_records" {
  description = "The records that may wait for a consumer for a quarter of an hour before an alarm."
  type        = number
  default     = 10000

  validation {
    condition     = var.lag_records >= 0
    error_message = "lag_records is ${var.lag_records}; give 0 or more."
  }
}

variable "load_balancers" {
  description = "By broker id, or ID/PORT for a second port, its load balancer and target group as CloudWatch names them."
  type = map(object({
    arn_suffix              = string
    port                    = number
    target_group_arn_suffix = string
  }))
  default = {}
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "The prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first, so that names of buckets fit into 63."
  }
}

variable "producers" {
  description = "The producer functions whose metrics are watched, by the prefix of their alarms: function name and schema name."
  type        = map(object({ function = string, schema = string }))
  default     = {}
}

variable "region" {
  description = "The region of the alarms."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "retention" {
  description = "The days until a deleted key is gone."
  type        = object({ key_deletion_days = optional(number, 30) })
  default     = {}
}

variable "spark" {
  description = "The EMR Serverless application whose failed runs are published, the alarms of jobs, and the schedules of runs; null for none."
  type = object({
    # Of jobs, as infra/modules/job puts them out.
    alarms = optional(map(object({
      description = string
      dimensions  = map(string)
      metric      = string
      minutes     = optional(number)
      missing     = optional(string)
      namespace   = string
      periods     = optional(number)
      section     = optional(string)
      statistic   = optional(string)
      threshold   = optional(number)
    })), {})
    application_id = string
    schedules      = optional(set(string), [])
  })
  default = null
}

variable "tables" {
  description = "The DynamoDB tables whose throttled writes are watched, by name: the index whose throttles are watched too, or null."
  type        = map(string)
  default     = {}
}

# Publishers are told apart from what they tell of, so that the topic is made before it.
variable "topic" {
  description = "Who publishes to the topic besides CloudWatch (rules if there is spark, endpoint_services), and the e-mail addresses that are notified of alarms."
  type = object({
    publishers  = optional(set(string), [])
    subscribers = optional(set(string), [])
  })
  default = {}

  validation {
    condition     = length(setsubtract(var.topic.publishers, ["endpoint_services", "rules"])) == 0
    error_message = "The publishers are ${join(", ", var.topic.publishers)}; give \"endpoint_services\", \"rules\", both or none."
  }
}
