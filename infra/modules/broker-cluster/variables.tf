variable "account_id" {
  description = "The account of the cluster."
  type        = string
}

variable "clients" {
  description = "Security groups that may reach the brokers' IAM listener, by rule name."
  type        = map(string)
  default     = {}
}

variable "cluster" {
  description = "The cluster; brokers can be added, not removed, and a serverless cluster accepts only `type`."
  type = object({
    type         = optional(string, "provisioned")
    broker_count = optional(number)
    # ARNs of private CAs: brokers take a client certificate of theirs as a login, on port 9094. After the last one: [].
    certificate_authorities = optional(list(string))
    enhanced_monitoring     = optional(string)
    instance_type           = optional(string)
    kafka_version           = optional(string)
    max_volume_gib          = optional(number)
    properties              = optional(map(string), {})
    volume_gib              = optional(number)
  })
  default = {}

  validation {
    condition     = contains(["provisioned", "serverless"], var.cluster.type)
    error_message = "cluster.type is ${var.cluster.type}; choose provisioned or serverless."
  }
  validation {
    condition = var.cluster.type != "serverless" || length(var.cluster.properties) == 0 && alltrue([
      for name in ["broker_count", "certificate_authorities", "enhanced_monitoring", "instance_type", "kafka_version", "max_volume_gib", "volume_gib"] : var.cluster[name] == null
    ])
    error_message = "A serverless cluster has no brokers to set up; take broker_count, certificate_authorities, enhanced_monitoring, instance_type, kafka_version, properties and the volumes out, or make it provisioned."
  }
  validation {
    condition = var.cluster.broker_count == null ? true : (
      var.cluster.broker_count > 0 && var.cluster.broker_count <= 60 && var.cluster.broker_count % length(var.subnet_ids) == 0
    )
    error_message = "broker_count is ${coalesce(var.cluster.broker_count, 0)} in ${length(var.subnet_ids)} zones; MSK spreads brokers evenly, so give a multiple of the number of zones, up to 60."
  }
  validation {
    condition     = alltrue([for arn in coalesce(var.cluster.certificate_authorities, []) : can(regex("^arn:[a-z-]+:acm-pca:[a-z0-9-]+:[0-9]{12}:certificate-authority/[0-9a-f-]{36}$", arn))])
    error_message = "certificate_authorities has ${join(", ", coalesce(var.cluster.certificate_authorities, []))}; give ARNs of private CAs (AWS Private CA) in the region of the cluster."
  }
  validation {
    condition     = contains(["DEFAULT", "PER_BROKER", "PER_TOPIC_PER_BROKER", "PER_TOPIC_PER_PARTITION"], coalesce(var.cluster.enhanced_monitoring, "DEFAULT"))
    error_message = "enhanced_monitoring is ${coalesce(var.cluster.enhanced_monitoring, "none")}; choose DEFAULT, PER_BROKER, PER_TOPIC_PER_BROKER or PER_TOPIC_PER_PARTITION."
  }
  validation {
    condition     = can(regex("^kafka[.](m5|m7g)[.][0-9]*x?large$", coalesce(var.cluster.instance_type, "kafka.m7g.large")))
    error_message = "instance_type is ${coalesce(var.cluster.instance_type, "none")}; choose a size of kafka.m5 or kafka.m7g: kafka.t3.small has no KRaft, and an Express broker (express.m7g) has neither volumes nor the server properties that this module sets."
  }
  validation {
    condition     = contains(local.kafka_versions, coalesce(var.cluster.kafka_version, "3.9.x.kraft"))
    error_message = "kafka_version is ${coalesce(var.cluster.kafka_version, "none")}; choose one of ${join(", ", local.kafka_versions)} (infra/modules/releases.json)."
  }
  validation {
    condition = alltrue([
      for size in [coalesce(var.cluster.volume_gib, 100), coalesce(var.cluster.max_volume_gib, 1000)] :
      size >= 1 && size <= 16384 && floor(size) == size
    ]) && coalesce(var.cluster.volume_gib, 100) <= coalesce(var.cluster.max_volume_gib, 1000)
    error_message = "The volumes have ${coalesce(var.cluster.volume_gib, 100)} GiB and may grow to ${coalesce(var.cluster.max_volume_gib, 1000)}; give whole numbers from 1 to 16384, the first no larger than the second."
  }
  validation {
    condition     = length(setintersection(keys(var.cluster.properties), keys(local.held_properties))) == 0
    error_message = "The module holds ${join(", ", setintersection(keys(var.cluster.properties), keys(local.held_properties)))}, so that records are safe and nobody is let in by default; take that out of properties."
  }
  # A line break in a value would begin another property, and a backslash at its end would absorb the next one.
  validation {
    condition = alltrue([
      for name, value in var.cluster.properties :
      can(regex("^[a-z]+([.][a-z]+)*$", name)) && can(regex("^[A-Za-z0-9.,_-]+$", value))
    ])
    error_message = "properties has ${jsonencode(var.cluster.properties)}; write names as Kafka does, such as log.retention.hours, and values of letters, digits, dots, commas and dashes."
  }
}

variable "exposure" {
  description = "The exposure of the brokers: privatelink (broker-exposure-privatelink), peering (broker-exposure-peering) or multi_vpc (connections that MSK manages)."
  type        = string
  default     = "privatelink"

  validation {
    condition     = contains(["privatelink", "peering", "multi_vpc"], var.exposure)
    error_message = "exposure is ${var.exposure}; choose privatelink, peering or multi_vpc."
  }
  validation {
    condition     = var.exposure != "multi_vpc" || var.cluster.type != "serverless"
    error_message = "A serverless cluster has no multi-VPC connectivity; make the cluster provisioned."
  }
  validation {
    condition     = var.exposure != "privatelink" || coalesce(var.cluster.broker_count, 0) <= 45
    error_message = "broker_count is ${coalesce(var.cluster.broker_count, 0)}; with privatelink give up to 45, since each broker needs a load balancer and each consumer an endpoint for it, of which AWS's default quotas allow 50."
  }
}

variable "prefix" {
  description = "The prefix of all names in this module."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first, since names of load balancers and buckets are short."
  }
  validation {
    condition     = !can(regex("^(aws|internal-|sg-)", var.prefix))
    error_message = "prefix is ${var.prefix}; begin it with neither aws, internal- nor sg-, which AWS keeps for names of its own."
  }
}

variable "region" {
  description = "The region of the cluster."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "retention" {
  description = "Days until deleted secrets (0: at once) and keys are gone, and days that the brokers' logs are kept."
  type = object({
    key_deletion_days    = optional(number, 30)
    log_days             = optional(number, 365)
    secret_recovery_days = optional(number, 30)
  })
  default = {}

  validation {
    condition     = contains(concat([0], range(7, 31)), var.retention.secret_recovery_days)
    error_message = "secret_recovery_days is ${var.retention.secret_recovery_days}; Secrets Manager allows 7 to 30, or 0 to delete at once."
  }
}

variable "scrapers" {
  description = "Security groups that may read the brokers' Prometheus metrics on ports 11001 and 11002, by name."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(values(var.scrapers)) == length(distinct(values(var.scrapers)))
    error_message = "Scrapers share the security groups ${join(", ", [for id, names in { for name, id in var.scrapers : id => name... } : "${id} (${join(", ", names)})" if length(names) > 1])}; name each group once, since EC2 takes one rule for it."
  }
}

variable "subnet_ids" {
  description = "The brokers' subnets by zone id, fixed for the life of the cluster."
  type        = map(string)

  validation {
    condition     = contains([2, 3], length(var.subnet_ids))
    error_message = "subnet_ids has ${length(var.subnet_ids)} zones (${join(", ", keys(var.subnet_ids))}); give one subnet in each of 2 or 3 zones."
  }
}

variable "users" {
  description = "The programs that log in by SCRAM, by name: the account that may connect, and a rotation number; raising it by one gives the user that is not in use a new password, and puts it in use."
  type = map(object({
    account_id = string
    rotation   = optional(number, 1)
  }))
  default = {}

  validation {
    condition     = length(var.users) == 0 || var.cluster.type != "serverless"
    error_message = "A serverless cluster takes IAM logins only and has no users; empty users, or make the cluster provisioned."
  }
  validation {
    condition     = alltrue([for name in keys(var.users) : can(regex("^[a-z][a-z0-9-]{0,14}_[a-z][a-z0-9-]{0,23}$", name))])
    error_message = "The users are called ${join(", ", keys(var.users))}; use CONSUMER_PROGRAM, of small letters, digits and dashes, a letter first, up to 15 and 24 of them."
  }
  validation {
    condition     = alltrue([for user in values(var.users) : can(regex("^[0-9]{12}$", user.account_id))])
    error_message = "The accounts of the users are ${join(", ", distinct([for user in values(var.users) : user.account_id]))}; give the 12 digits of each, in quotes."
  }
  validation {
    condition     = alltrue([for user in values(var.users) : user.rotation >= 1 && floor(user.rotation) == user.rotation])
    error_message = "The rotations are ${join(", ", [for user in values(var.users) : user.rotation])}; give whole numbers from 1, and add one for a new password."
  }
}

variable "vpc_id" {
  description = "The VPC of the subnets."
  type        = string
}
