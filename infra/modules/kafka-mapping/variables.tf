variable "account_id" {
  description = "The account of the function."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "batching" {
  description = "The batch size and the batching window in seconds."
  type = object({
    size           = optional(number, 100)
    window_seconds = optional(number, 1)
  })
  default = {}

  validation {
    condition     = var.batching.size >= 1 && var.batching.size <= 10000
    error_message = "batching.size is ${var.batching.size}; give 1 to 10000."
  }
  validation {
    condition     = var.batching.window_seconds >= 0 && var.batching.window_seconds <= 300
    error_message = "batching.window_seconds is ${var.batching.window_seconds}; give 0 to 300."
  }
}

variable "bootstrap_servers" {
  description = "The bootstrap brokers as host:port, separated by commas, as reachable from the subnets."
  type        = string

  validation {
    condition     = can(regex("^[^,: ]+:[0-9]+(,[^,: ]+:[0-9]+){0,9}$", var.bootstrap_servers))
    error_message = "bootstrap_servers is ${var.bootstrap_servers}; give one to ten brokers as host:port with commas between, for Lambda allows no more."
  }
}

variable "failure_bucket_arn" {
  description = "A bucket that takes batches with their records after eleven failed tries; null: a batch comes again until it is done or its records expire, and Lambda drops a record of more than 6 MB as JSON."
  type        = string
  default     = null
}

variable "function" {
  description = "The function that receives the records, and its role, which the pollers use."
  type = object({
    arn       = string
    name      = string
    role_name = string
  })
}

variable "group_prefix" {
  description = "The prefix of the consumer's Kafka consumer groups, as its access list has it."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9._-]+$", var.group_prefix))
    error_message = "group_prefix is ${jsonencode(var.group_prefix)}; give the one in the contract: letters, digits, dots, dashes and underscores."
  }
}

variable "network" {
  description = "The subnets and the security group of the pollers."
  type = object({
    security_group_id = string
    subnet_ids        = list(string)
  })

  validation {
    condition     = length(var.network.subnet_ids) > 0
    error_message = "network.subnet_ids is empty; give at least one subnet that has an endpoint of a broker."
  }
}

variable "provisioned" {
  description = "Provisioned mode of the event source mapping, billed per poller-hour, with bisect-on-error and partial batch responses; null uses on-demand pollers."
  type = object({
    minimum_pollers = optional(number, 1)
    maximum_pollers = optional(number, 2)
  })
  default = null

  validation {
    condition = var.provisioned == null ? true : (
      1 <= var.provisioned.minimum_pollers && var.provisioned.minimum_pollers <= min(200, var.provisioned.maximum_pollers) && var.provisioned.maximum_pollers <= 2000
    )
    error_message = "provisioned asks for ${try(var.provisioned.minimum_pollers, 0)} to ${try(var.provisioned.maximum_pollers, 0)} pollers; give 1 to 200, then as many or more, at most 2000."
  }
}

variable "region" {
  description = "The region of the function."
  type        = string
}

variable "secret" {
  description = "The secret with the Kafka user and password, in the function's account: ARN and name."
  type = object({
    arn  = string
    name = string
  })
}

variable "topics" {
  description = "The topics to read; each gets an event source mapping."
  type        = set(string)

  validation {
    condition     = alltrue([for topic in var.topics : length("${var.group_prefix}${var.function.name}-${topic}") <= 200])
    error_message = "A consumer group ${var.group_prefix}${var.function.name}-<topic> would be longer than 200 characters, which Lambda refuses; give shorter names to the topics ${join(", ", var.topics)}, or a shorter group_prefix."
  }
}
