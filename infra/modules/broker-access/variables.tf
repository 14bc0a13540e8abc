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
    # The brokers' VPC, with exposure peering.
    peering             = optional(object({ cidr = string, vpc_id = string }))
    producer_account_id = optional(string)
    brokers = map(object({
      host         = string
      port         = number
      service_id   = optional(string)
      service_name = optional(string)
      tls_port     = optional(number)
      zone_ids     = list(string)
    }))
    cluster = object({
      arn       = string
      name      = string
      zone_name = string
    })
    # A program has a Kafka user, whose rotation and secret are here, or a client certificate of this name.
    programs = map(object({
      certificate  = optional(string)
      group_prefix = string
      rotation     = optional(number)
      secret_arn   = optional(string)
      topics       = list(string)
      transactions = optional(bool, false)
      writes       = optional(list(string), [])
    }))
  })

  validation {
    condition     = contains(["privatelink", "peering", "multi_vpc"], var.contract.exposure)
    error_message = "contract.exposure is ${var.contract.exposure}; only privatelink, peering and multi_vpc are known, so ask the producer for a contract of this version."
  }
  validation {
    condition = length(var.contract.brokers) > 0 && (contains(["multi_vpc", "peering"], var.contract.exposure) || alltrue([
      for broker in values(var.contract.brokers) : broker.service_id != null && broker.service_name != null
    ]))
    error_message = "The brokers of the contract are \"${join(", ", keys(var.contract.brokers))}\"; it needs at least one, each with an endpoint service under privatelink, so write the contract again with `make contract`."
  }
  validation {
    condition = alltrue([
      for program in values(var.contract.programs) :
      program.certificate == null ? program.rotation != null : alltrue([for broker in values(var.contract.brokers) : broker.tls_port != null])
    ])
    error_message = "The programs of the contract are ${join(", ", keys(var.contract.programs))}; each needs a rotation and a secret_arn, or a certificate and brokers with a tls_port, so write the contract again with `make contract`."
  }
  validation {
    condition     = var.contract.exposure != "peering" || try(can(cidrhost(var.contract.peering.cidr, 0)) && can(regex("^[0-9]{12}$", var.contract.producer_account_id)), false)
    error_message = "The contract has the exposure peering and no usable VPC or account of the brokers (peering ${jsonencode(var.contract.peering)}); write it again with `make contract`."
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

variable "route_table_ids" {
  description = "The route tables of the subnets, which get a route to the brokers with peering."
  type        = list(string)
  default     = []

  validation {
    condition     = var.contract.exposure != "peering" || length(var.route_table_ids) > 0
    error_message = "route_table_ids is empty; with the exposure peering, give the route tables of the clients' subnets."
  }
}

variable "subnet_ids" {
  description = "The subnets for the endpoints, by zone id; privatelink uses those in zones of the brokers, multi_vpc needs one in each of these zones, peering none."
  type        = map(string)

  validation {
    condition = var.contract.exposure == "peering" || alltrue([
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
