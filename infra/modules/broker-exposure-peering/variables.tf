variable "broker_count" {
  description = "The number of brokers in the cluster."
  type        = number

  validation {
    condition     = contains(range(1, 61), var.broker_count)
    error_message = "broker_count is ${var.broker_count}; give a whole number from 1 to 60, as many as a cluster with KRaft has."
  }
}

variable "cluster" {
  description = "The MSK cluster: zone_name is what follows b-N in its brokers' names, security_group_id the brokers' group."
  type = object({
    security_group_id = string
    zone_name         = string
  })
}

variable "consumers" {
  description = "The consumers whose VPCs are peered, by name: the account, the VPC's address range, and the id of the peering connection that the consumer has asked for."
  type = map(object({
    account_id    = string
    cidr          = string
    connection_id = string
  }))
  default = {}

  validation {
    condition     = alltrue([for consumer in values(var.consumers) : try(cidrhost(consumer.cidr, 0) == split("/", consumer.cidr)[0], false)])
    error_message = "The address ranges of the consumers are ${jsonencode({ for name, consumer in var.consumers : name => consumer.cidr })}; give each by its first address and size, such as 10.1.0.0/16."
  }
  validation {
    # Two ranges overlap if they are equal after both are cut to the shorter prefix.
    condition = alltrue(flatten([
      for name, one in var.consumers : [
        for other_name, other in var.consumers : name == other_name || try(
          cidrsubnet("${split("/", one.cidr)[0]}/${min(split("/", one.cidr)[1], split("/", other.cidr)[1])}", 0, 0) !=
          cidrsubnet("${split("/", other.cidr)[0]}/${min(split("/", one.cidr)[1], split("/", other.cidr)[1])}", 0, 0),
          true,
        )
      ]
    ]))
    error_message = "The address ranges of the consumers are ${jsonencode({ for name, consumer in var.consumers : name => consumer.cidr })}; no two may overlap, since a route leads to one connection."
  }
  validation {
    condition     = alltrue([for consumer in values(var.consumers) : can(regex("^[0-9]{12}$", consumer.account_id))])
    error_message = "The consumers' accounts are ${join(", ", [for consumer in values(var.consumers) : consumer.account_id])}; give the 12 digits of each, in quotes."
  }
  validation {
    condition     = alltrue([for consumer in values(var.consumers) : can(regex("^pcx-[0-9a-f]+$", consumer.connection_id))])
    error_message = "The peering connections of the consumers are ${jsonencode({ for name, consumer in var.consumers : name => consumer.connection_id })}; give the id of each, which begins with pcx-, from the consumer's output peering."
  }
}

variable "ports" {
  description = "The brokers' ports that consumers reach: 9096 for logins by SCRAM, and 9094 for those by client certificate."
  type        = list(number)
  default     = [9096]

  validation {
    condition     = contains(var.ports, 9096) && length(setsubtract(var.ports, [9094, 9096])) == 0
    error_message = "ports is ${join(", ", var.ports)}; give 9096, and 9094 where the cluster takes client certificates."
  }
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "route_table_ids" {
  description = "The route tables of the brokers' subnets, which get a route to each consumer."
  type        = list(string)

  validation {
    condition     = length(var.route_table_ids) > 0
    error_message = "route_table_ids is empty; give the route tables of the brokers' subnets, or no answer finds its way to a consumer."
  }
}

variable "vpc_id" {
  description = "The brokers' VPC."
  type        = string
}

variable "zone_ids" {
  description = "The ids of the brokers' zones."
  type        = list(string)

  validation {
    condition     = contains([2, 3], length(var.zone_ids))
    error_message = "zone_ids are ${join(", ", var.zone_ids)}; give the 2 or 3 zones that the brokers are in."
  }
}
