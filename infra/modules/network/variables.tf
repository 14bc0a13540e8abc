variable "account_id" {
  description = "The account of the network."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "cidr" {
  description = "The IPv4 address range of the VPC, /16 to /24, which it keeps; each zone gets a quarter of it."
  type        = string
  default     = "10.0.0.0/16"

  validation {
    condition = try(
      cidrhost(var.cidr, 0) == split("/", var.cidr)[0] &&
      tonumber(split("/", var.cidr)[1]) >= 16 && tonumber(split("/", var.cidr)[1]) <= 24,
      false,
    )
    error_message = "cidr is ${var.cidr}; give an IPv4 range by its first address and a size from /16 to /24, such as 10.0.0.0/16: a quarter of less has too few addresses for a zone."
  }
}

variable "clients" {
  description = "Security groups that may call the interface endpoints: ids by name."
  type        = map(string)
  default     = {}
}

variable "emr_buckets" {
  description = "Whether a cluster of EMR on EC2 runs here, which uses buckets of EMR through the endpoint for S3: with packages, with logs and for the Spark UI."
  type        = bool
  default     = false
}

variable "existing" {
  description = "A VPC that is there already, with DNS hostnames and resolution on, and a private subnet for each of zone_ids; only endpoints that it lacks are made in it."
  type = object({
    vpc_id = string
    # By service, such as glue or emr-service-cell01: the security group of the endpoint, which must let in port 443 from the VPC: it gets no rule.
    interface_endpoints = optional(map(string), {})
    # The prefix lists of its gateway endpoints, by service: dynamodb and s3.
    prefix_list_ids = optional(map(string), {})
    route_table_ids = list(string)
    subnet_ids      = map(string)
  })
  default = null

  validation {
    condition     = var.existing == null || length(setsubtract(var.zone_ids, try(keys(var.existing.subnet_ids), []))) == 0
    error_message = "existing.subnet_ids has the zones ${join(", ", try(keys(var.existing.subnet_ids), []))}; give a subnet for each of zone_ids, ${join(", ", var.zone_ids)}."
  }
  validation {
    condition     = alltrue([for id in values(try(var.existing.interface_endpoints, {})) : can(regex("^sg-[0-9a-z]+$", id))])
    error_message = "existing.interface_endpoints has ${jsonencode(try(var.existing.interface_endpoints, {}))}; give for each service the security group of its endpoint, such as sg-0123456789abcdef0, which must let in port 443 from the VPC."
  }
  validation {
    condition     = alltrue([for id in values(try(var.existing.prefix_list_ids, {})) : can(regex("^pl-[0-9a-z]+$", id))])
    error_message = "existing.prefix_list_ids has ${jsonencode(try(var.existing.prefix_list_ids, {}))}; give for dynamodb and s3 the ids that `aws ec2 describe-prefix-lists` prints, such as pl-0123456789abcdef0."
  }
  validation {
    condition     = var.existing == null || can(regex("^vpc-[0-9a-z]+$", var.existing.vpc_id)) && alltrue([for id in try(var.existing.route_table_ids, []) : can(regex("^rtb-[0-9a-z]+$", id))]) && alltrue([for id in values(try(var.existing.subnet_ids, {})) : can(regex("^subnet-[0-9a-z]+$", id))])
    error_message = "existing has the VPC ${try(var.existing.vpc_id, "")}, the route tables ${join(", ", try(var.existing.route_table_ids, []))} and the subnets ${join(", ", values(try(var.existing.subnet_ids, {})))}; give their ids, vpc-..., rtb-... and subnet-..., a subnet by the id of its zone."
  }
}

variable "foreign_roles" {
  description = "Roles of other accounts that code in the subnets may assume, and with which it may read schema versions; the endpoint policies allow nothing else of another account."
  type        = list(string)
  default     = []
}

variable "gateway_endpoints" {
  description = "The gateway endpoints to create: dynamodb, s3 or both."
  type        = set(string)
  default     = ["dynamodb", "s3"]

  validation {
    condition     = length(setsubtract(var.gateway_endpoints, ["dynamodb", "s3"])) == 0
    error_message = "gateway_endpoints has ${join(", ", var.gateway_endpoints)}; only dynamodb and s3 have gateways, name others in interface_endpoints."
  }
}

variable "interface_endpoints" {
  description = "The interface endpoints to create, by the last part of their service names, such as glue or sts."
  type        = set(string)
  default     = []

  validation {
    condition = alltrue([
      for name in var.interface_endpoints : can(regex("^[a-z][a-z0-9.-]+$", name)) && !contains(["dynamodb", "s3"], name)
    ])
    error_message = "interface_endpoints has ${join(", ", var.interface_endpoints)}; give short names such as glue or sts, and name dynamodb and s3 in gateway_endpoints, where they cost nothing."
  }
}

variable "log_days" {
  description = "Days that flow logs are kept."
  type        = number
  default     = 365
}

variable "other_cidrs" {
  description = "Address ranges of connected networks, which cidr must not overlap."
  type        = set(string)
  default     = []

  validation {
    # Two ranges overlap if they are equal after both are cut to the shorter prefix.
    condition = alltrue([
      for other in var.other_cidrs : try(
        cidrsubnet("${split("/", var.cidr)[0]}/${min(split("/", var.cidr)[1], split("/", other)[1])}", 0, 0) !=
        cidrsubnet("${split("/", other)[0]}/${min(split("/", var.cidr)[1], split("/", other)[1])}", 0, 0),
        false,
      )
    ])
    error_message = "cidr is ${var.cidr} and other_cidrs has ${join(", ", var.other_cidrs)}; choose a cidr that overlaps none of them, and write each like 10.1.0.0/16."
  }
}

variable "peered" {
  description = "Whether cidr is routed by peering: of an existing VPC, it is then the one range that holds the subnets."
  type        = bool
  default     = false
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of the role of the flow logs; null for none."
  type        = string
  default     = null
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "region" {
  description = "The region of the network."
  type        = string
}

variable "zone_ids" {
  description = "The availability zone ids, which mean the same place in every account, a new one at the end, since its position gives its subnet a range; they are fixed once a cluster is in them."
  type        = list(string)

  validation {
    condition     = contains([2, 3], length(var.zone_ids)) && length(distinct(var.zone_ids)) == length(var.zone_ids)
    error_message = "zone_ids is ${join(", ", var.zone_ids)}; give 2 or 3 different zones, as many as the brokers are in."
  }
  validation {
    condition     = alltrue([for zone_id in var.zone_ids : can(regex("^[a-z0-9]+-az[0-9]+$", zone_id))])
    error_message = "zone_ids is ${join(", ", var.zone_ids)}; give zone ids such as euc1-az1, not zone names such as eu-central-1a, which mean another place in each account."
  }
}
