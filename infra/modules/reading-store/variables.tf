variable "account_id" {
  description = "The account of the tables."
  type        = string
}

variable "errors" {
  description = "The error tables, by what follows the prefix in their names: errors, or a name that ends in -errors."
  type        = set(string)
  default     = ["errors"]

  validation {
    condition     = alltrue([for table in var.errors : can(regex("^([a-z0-9-]+-)?errors$", table))])
    error_message = "The error tables are ${join(", ", var.errors)}; name each errors, or with small letters, digits and dashes before -errors."
  }
}

variable "key_alias" {
  description = "The alias of the tables' key, by what follows the prefix."
  type        = string
  default     = "tables"
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "The prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first, so that names of buckets fit into 63."
  }
}

variable "region" {
  description = "The region of the tables."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "The region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "retention" {
  description = "Retention: deletion_protection keeps tables; days until a deleted key is gone."
  type = object({
    deletion_protection = optional(bool, true)
    key_deletion_days   = optional(number, 30)
  })
  default = {}
}

variable "tables" {
  description = "The tables of rows, by what follows the prefix: the names of partition key, sort key (null for none) and TTL attribute (by default _expiresAt), and in fixed what is fixed for the table's life."
  type = map(object({
    fixed         = optional(map(string), {})
    hash_key      = string
    range_key     = optional(string)
    ttl_attribute = optional(string)
  }))

  validation {
    condition     = alltrue([for table in keys(var.tables) : can(regex("^[a-z0-9_]+$", table)) && table != "errors"])
    error_message = "The tables are ${join(", ", keys(var.tables))}; name each with small letters, digits and underscores, and none errors, which is the dead-letter table."
  }
}
