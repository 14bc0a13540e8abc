variable "account_id" {
  description = "The account of the lake."
  type        = string
}

variable "analysts" {
  description = "Roles that query the lake with Athena, by name: the principals that may assume each, and the tables that it sees, which must exist, with the columns in or left out and the rows for which a condition in SQL holds (rows); without tables, all tables whole."
  type = map(object({
    principals = set(string)
    tables = optional(map(object({
      excluded_columns = optional(set(string))
      included_columns = optional(set(string))
      rows             = optional(string)
    })))
  }))
  default = {}

  validation {
    condition     = alltrue([for name, analyst in var.analysts : can(regex("^[a-z][a-z0-9-]{0,15}$", name)) && length(analyst.principals) > 0])
    error_message = "The analysts are ${jsonencode({ for name, analyst in var.analysts : name => analyst.principals })}; use up to 16 small letters, digits and dashes for each, a letter first, and give each at least one principal."
  }
  validation {
    condition = alltrue(flatten([
      for analyst in values(var.analysts) : [for part in values(coalesce(analyst.tables, {})) : part.included_columns == null ? true : part.excluded_columns == null && length(part.included_columns) > 0]
    ]))
    error_message = "The analysts see ${jsonencode({ for name, analyst in var.analysts : name => analyst.tables })}; give a table included_columns or excluded_columns, and at least one column that is included."
  }
}

variable "bucket" {
  description = "The lake's bucket: its name and its ARN."
  type        = object({ arn = string, name = string })
}

variable "database" {
  description = "The Glue database of the tables."
  type        = object({ name = string })
}

variable "deploy_role_arn" {
  description = "The role that Terraform works as, which must be an administrator of the data lake; null to leave that to the account."
  type        = string
  default     = null
}

variable "folders" {
  description = "The folders of the bucket with tables, each a registered location; the results of queries must be in none."
  type        = set(string)
  default     = ["tables"]
}

variable "force_destroy" {
  description = "If true, deletes work groups with their queries on destroy."
  type        = bool
  default     = false
}

variable "kms_key_arn" {
  description = "The key that encrypts the results of queries."
  type        = string
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of its roles; null for none."
  type        = string
  default     = null
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "principals" {
  description = "Roles that work on the lake, by name: the ARN of each, its permissions on the database, and those on all its tables."
  type = map(object({
    arn      = string
    database = optional(set(string), [])
    tables   = optional(set(string), [])
  }))
  default = {}
}

variable "query_limit_bytes" {
  description = "The limit of bytes scanned per query of an analyst, 100 GiB by default."
  type        = number
  default     = 107374182400
}

variable "readers" {
  description = "The ARNs of roles and users that exist and query all tables with Athena."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.readers : can(regex("^arn:[a-z-]+:iam::[0-9]{12}:(role|user)/.+$", arn))])
    error_message = "The readers are ${join(", ", var.readers)}; give the ARN of each role or user."
  }
}

variable "region" {
  description = "The region of the lake."
  type        = string
}
