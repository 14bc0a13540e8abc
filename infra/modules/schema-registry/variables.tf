variable "account_id" {
  description = "The account of the registry."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "consumers" {
  description = "The consumers by name: who they are, and what their programs and Terraform may do."
  type = map(object({
    account_id  = string
    external_id = string
    # The role of its Terraform.
    hand_over_principal_arn = string
    # The roles of its programs.
    reader_principal_arns = list(string)
    secret_name           = string
    # The services whose connections the consumer accepts; empty with multi-VPC connectivity.
    endpoint_service_arns = optional(list(string), [])
    # The schemas whose versions its programs may find by their definition.
    written_schemas = optional(list(string), [])
  }))
  default = {}

  validation {
    condition     = alltrue([for name in keys(var.consumers) : can(regex("^[a-z][a-z0-9-]{0,14}$", name))])
    error_message = "Consumers are called ${join(", ", keys(var.consumers))}; use up to 15 small letters, digits and dashes, a letter first, since users, roles and buckets are named after them."
  }
  validation {
    condition     = alltrue([for consumer in values(var.consumers) : can(regex("^[0-9]{12}$", consumer.account_id))])
    error_message = "The consumers' accounts are ${join(", ", [for consumer in values(var.consumers) : consumer.account_id])}; give the 12 digits of each, in quotes."
  }
  validation {
    condition = alltrue([
      for consumer in values(var.consumers) :
      can(regex("^[A-Za-z0-9_+=,.@:/-]{2,}$", consumer.external_id)) && length(consumer.external_id) <= 1224
    ])
    error_message = "The external ids are ${join(", ", [for consumer in values(var.consumers) : consumer.external_id])}; use 2 to 1224 letters, digits and _+=,.@:/- in each."
  }
  validation {
    condition     = alltrue([for consumer in values(var.consumers) : length(consumer.reader_principal_arns) > 0])
    error_message = "A consumer has no reader_principal_arns; name the roles of its programs."
  }
  # The ARN of a session, or of a role in another account, never equals the caller's: nobody would be admitted.
  validation {
    condition = alltrue(flatten([
      for consumer in values(var.consumers) : concat(
        [for arn in consumer.reader_principal_arns : can(regex("^arn:aws[a-z-]*:iam::${consumer.account_id}:role/[A-Za-z0-9_+=,.@/-]+\\*?$", arn))],
        [can(regex("^arn:aws[a-z-]*:iam::${consumer.account_id}:role/[A-Za-z0-9_+=,.@/-]+$", consumer.hand_over_principal_arn))],
      )
    ]))
    error_message = "The consumers' roles are ${join(", ", flatten([for consumer in values(var.consumers) : concat(consumer.reader_principal_arns, [consumer.hand_over_principal_arn])]))}; give ARNs of roles of the consumer's own account, of which those of readers may end in * after the beginning of a name."
  }
}

variable "name" {
  description = "The name of the registry; it cannot change: a new name would delete the registry with all schema versions."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_$#.-]{1,255}$", var.name))
    error_message = "name is ${var.name}; use up to 255 letters, digits and _$#.- for the registry."
  }
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of its roles; null for none."
  type        = string
  default     = null
}

variable "prefix" {
  description = "The prefix of all names in this module."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first, since names of load balancers and buckets are short."
  }
}

variable "region" {
  description = "The region of the registry."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}
