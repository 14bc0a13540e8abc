variable "acceptance_required" {
  description = "If true, makes each consumer endpoint wait for acceptance; a consumer's hand-over role may accept its own."
  type        = bool
  default     = true
}

# These inputs are not part of `cluster`, so that load balancers, which take a minute, are created in parallel to it.
variable "broker_count" {
  description = "The number of brokers in the cluster."
  type        = number

  validation {
    condition     = contains(range(1, 46), var.broker_count)
    error_message = "broker_count is ${var.broker_count}; give a whole number from 1 to 45, since each broker needs a load balancer and each consumer an endpoint for it, of which AWS's default quotas allow 50."
  }
}

variable "cluster" {
  description = "The MSK cluster: zone_name is what follows b-N in its brokers' names, security_group_id the brokers' group."
  type = object({
    arn               = string
    security_group_id = string
    zone_name         = string
  })
}

variable "consumers" {
  description = "The accounts that may connect, by consumer."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for account_id in values(var.consumers) : can(regex("^[0-9]{12}$", account_id))])
    error_message = "The consumers' accounts are ${join(", ", values(var.consumers))}; give the 12 digits of each, in quotes."
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

  validation {
    condition     = length(var.prefix) <= 27
    error_message = "prefix is ${var.prefix}; use 27 characters or fewer, since the name of a load balancer has 32 and ends with -b-45 at most."
  }
}

variable "subnet_ids" {
  description = "The brokers' subnets by zone id; the load balancers are in all of them."
  type        = map(string)

  validation {
    condition     = contains([2, 3], length(var.subnet_ids))
    error_message = "subnet_ids has the zones ${join(", ", keys(var.subnet_ids))}; give the subnets of the 2 or 3 zones that the brokers are in."
  }
}

variable "vpc_id" {
  description = "The brokers' VPC."
  type        = string
}
