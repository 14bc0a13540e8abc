variable "account_id" {
  description = "The account of the cluster."
  type        = string
}

variable "cluster" {
  description = "The MSK cluster: its ARN and name, its brokers' names with the port for IAM, and the security group that the brokers are in."
  type = object({
    arn               = string
    bootstrap_servers = string
    name              = string
    security_group_id = string
  })

  validation {
    condition     = can(regex("^arn:[a-z-]+:kafka:[a-z0-9-]+:[0-9]{12}:cluster/[^/]+/[^/]+$", var.cluster.arn))
    error_message = "cluster.arn is ${var.cluster.arn}; give the ARN of an MSK cluster."
  }
}

variable "delete_removed_topics" {
  description = "If true, deletes a topic with its records when it is removed from topics, or with the module; otherwise it stays, unmanaged; the value of the apply before counts."
  type        = bool
  default     = false
}

variable "log_days" {
  description = "Days that the function's log is kept."
  type        = number
  default     = 365
}

variable "network" {
  description = "The VPC and the subnets that the function runs in."
  type = object({
    vpc_id     = string
    subnet_ids = list(string)
  })
}

variable "package" {
  description = "The zip of lambdas/access from `make build`, its Python version and architecture."
  type = object({
    path           = string
    architecture   = optional(string, "arm64")
    python_version = optional(string, "3.13")
  })
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of the function's role; null for none."
  type        = string
  default     = null
}

variable "prefix" {
  description = "The prefix of the function's name."
  type        = string
}

variable "readers" {
  description = "The programs by name: Kafka users, topics that they read and write, the prefix of their consumer groups, and whether they use transactional ids, which begin with it too."
  type = map(object({
    # The consumer whose functions it is for: the groups of functions have their names, and one name may begin another.
    functions_of = optional(string)
    group_prefix = string
    # The prefixes of groups that they may describe: how far these are.
    seen_groups  = optional(list(string), [])
    topics       = list(string)
    transactions = optional(bool, false)
    usernames    = list(string)
    writes       = optional(list(string), [])
  }))
  default = {}

  validation {
    condition     = alltrue([for reader in values(var.readers) : length(setsubtract(concat(reader.topics, reader.writes), keys(var.topics))) == 0])
    error_message = "A reader has topics that are not among ${join(", ", keys(var.topics))}; add them to topics, or take them from the reader."
  }
  validation {
    condition     = alltrue([for reader in values(var.readers) : can(regex("^[A-Za-z0-9._-]+$", reader.group_prefix))])
    error_message = "A group_prefix of ${join(", ", keys(var.readers))} is empty or holds other characters than letters, digits, dots, dashes and underscores; give each a prefix of its own, such as its name and a dash."
  }
  validation {
    condition = alltrue(flatten([
      for name, reader in var.readers : [
        for other_name, other in var.readers :
        name == other_name || (reader.functions_of != null && reader.functions_of == other.functions_of) || !startswith(other.group_prefix, reader.group_prefix)
      ]
    ]))
    error_message = "One group_prefix of ${join(", ", values(var.readers)[*].group_prefix)} begins with another, whose reader could join its groups; choose prefixes of which none begins with another, unless both are of functions of one consumer."
  }
  validation {
    condition     = length(distinct(flatten(values(var.readers)[*].usernames))) == length(flatten(values(var.readers)[*].usernames))
    error_message = "Two of the readers ${join(", ", keys(var.readers))} log in with the same user name; give each its own."
  }
}

variable "region" {
  description = "The region of the cluster."
  type        = string
}

variable "topics" {
  description = "The topics by name, at least one; partitions can only grow, replicas cannot change; -1 takes the cluster's default when the topic is created."
  type = map(object({
    partitions = optional(number, -1)
    replicas   = optional(number, -1)
    properties = optional(map(string), {})
  }))

  validation {
    condition     = length(var.topics) > 0
    error_message = "There is no topic; name at least one."
  }
  validation {
    condition     = alltrue([for name in keys(var.topics) : can(regex("^[A-Za-z0-9._-]{1,249}$", name)) && !contains([".", ".."], name)])
    error_message = "The topics are ${join(", ", keys(var.topics))}; use up to 249 letters, digits, dots, dashes and underscores for each."
  }
  validation {
    condition = alltrue(flatten([
      for topic in values(var.topics) :
      [for number in [topic.partitions, topic.replicas] : (number >= 1 || number == -1) && floor(number) == number]
    ]))
    error_message = "A topic of ${join(", ", keys(var.topics))} has no whole number of partitions or replicas; give 1 or more, or leave it to the cluster."
  }
}
