variable "account_id" {
  description = "The account that reads."
  type        = string
}

variable "clients" {
  description = "Security groups that may reach the brokers: ids by name."
  type        = map(string)
  default     = {}
}

variable "contract" {
  description = "The brokers and the logins of this consumer's programs, from the contract; other attributes of the contract are ignored."
  type = object({
    acceptance_required = optional(bool, true)
    exposure            = string
    brokers = map(object({
      host         = string
      port         = number
      service_id   = optional(string)
      service_name = optional(string)
      zone_ids     = list(string)
    }))
    cluster = object({
      arn       = string
      name      = string
      zone_name = string
    })
    programs = map(object({
      group_prefix = string
      rotation     = number
      secret_arn   = string
      topics       = list(string)
      transactions = optional(bool, false)
      writes       = optional(list(string), [])
    }))
  })

  validation {
    condition     = contains(["privatelink", "multi_vpc"], var.contract.exposure)
    error_message = "contract.exposure is ${var.contract.exposure}; only privatelink and multi_vpc are known, so ask the producer for a contract of this version."
  }
  validation {
    condition = length(var.contract.brokers) > 0 && (var.contract.exposure == "multi_vpc" || alltrue([
      for broker in values(var.contract.brokers) : broker.service_id != null && broker.service_name != null
    ]))
    error_message = "The brokers of the contract are \"${join(", ", keys(var.contract.brokers))}\"; it needs at least one, each with an endpoint service under privatelink, so write the contract again with `make contract`."
  }
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "retention" {
  description = "Days that a deleted secret can be restored, and days until a deleted key is gone."
  type = object({
    key_deletion_days    = optional(number, 30)
    secret_recovery_days = optional(number, 30)
  })
  default = {}

  validation {
    condition     = contains(concat([0], range(7, 31)), var.retention.secret_recovery_days)
    error_message = "retention.secret_recovery_days is ${var.retention.secret_recovery_days}; Secrets Manager allows 7 to 30, or 0 to delete at once."
  }
}

variable "subnet_ids" {
  description = "The subnets for the endpoints, by zone id; privatelink uses those in zones of the brokers, multi_vpc needs one in each of these zones."
  type        = map(string)

  validation {
    condition = alltrue([
      for broker in values(var.contract.brokers) :
      length(setintersection(broker.zone_ids, keys(var.subnet_ids))) > 0
    ])
    error_message = "subnet_ids has the zones ${join(", ", keys(var.subnet_ids))}, and the brokers are in ${join(", ", distinct(flatten([for broker in values(var.contract.brokers) : broker.zone_ids])))}; add a subnet in one of theirs, since an endpoint stands only where its service does."
  }
  validation {
    condition = var.contract.exposure != "multi_vpc" || length(setsubtract(
      flatten(values(var.contract.brokers)[*].zone_ids), keys(var.subnet_ids)
    )) == 0
    error_message = "subnet_ids has the zones ${join(", ", keys(var.subnet_ids))}, and MSK makes its connection in all zones of the cluster, ${join(", ", distinct(flatten(values(var.contract.brokers)[*].zone_ids)))}; add a subnet in each of them, or ask the producer for the exposure privatelink."
  }
}

variable "vpc_id" {
  description = "The VPC of the clients."
  type        = string
}
