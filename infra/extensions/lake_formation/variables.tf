variable "analysts" {
  description = "Roles that query the lake with Athena: who may assume each, and tables; of each its included_columns, or all but excluded_columns, with those to come, and rows, a condition in SQL; null for all."
  type = map(object({
    principals = set(string)
    # Terraform drops what the type does not have: with a default, a misspelt name would grant all tables, or all rows.
    tables = map(object({
      # Leaves out names alone: a column that becomes a double is there as _before_1_COLUMN too.
      excluded_columns = optional(set(string))
      # Those to show, if another one must stay hidden.
      included_columns = optional(set(string))
      rows             = string
    }))
  }))
  default = {}

  validation {
    condition     = alltrue([for name, analyst in var.analysts : can(regex("^[a-z][a-z0-9-]{0,15}$", name)) && length(analyst.principals) > 0])
    error_message = "The analysts are ${jsonencode({ for name, analyst in var.analysts : name => analyst.principals })}; use up to 16 small letters, digits and dashes for each, a letter first, and give each at least one principal."
  }
  validation {
    condition = alltrue(flatten([
      for analyst in values(var.analysts) : [for part in values(coalesce(analyst.tables, {})) : (part.excluded_columns == null) != (part.included_columns == null) && try(length(part.included_columns), 1) > 0]
    ]))
    error_message = "The analysts see ${jsonencode({ for name, analyst in var.analysts : name => analyst.tables })}; give each table included_columns, with at least one, or excluded_columns, [] for all columns; a name that is misspelt counts as missing."
  }
}

variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    deploy_role_arn      = optional(string)
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    lake = object({
      bucket   = object({ arn = string, name = string })
      database = object({ name = string })
      folders  = list(string)
      key_arn  = string
      principals = map(object({
        arn      = string
        database = list(string)
        tables   = list(string)
      }))
      query_limit_bytes = number
    })
    retention = object({ force_destroy = bool })
  })
}

variable "principals" {
  description = "Roles that work on the lake besides those of jobs, such as the outputs lake_principals of extensions: the ARN of each, its permissions on the database, and those on all its tables."
  type = map(object({
    arn      = string
    database = optional(set(string), [])
    tables   = optional(set(string), [])
  }))
  default = {}
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
