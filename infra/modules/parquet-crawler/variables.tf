variable "account_id" {
  description = "The account of the crawler."
  type        = string
}

variable "bucket" {
  description = "The bucket of the files: its name, its ARN and the ARN of its key."
  type        = object({ name = string, arn = string, kms_key_arn = string })
}

variable "changes" {
  description = "The crawler's behaviour for changed and deleted files in the catalog, and the folders that it reads again: LOG for both goes with CRAWL_NEW_FOLDERS_ONLY."
  type = object({
    delete  = optional(string, "LOG")
    recrawl = optional(string, "CRAWL_EVERYTHING")
    update  = optional(string, "UPDATE_IN_DATABASE")
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["DELETE_FROM_DATABASE", "DEPRECATE_IN_DATABASE", "LOG"], var.changes.delete)
    error_message = "changes.delete is ${var.changes.delete}; write LOG, DEPRECATE_IN_DATABASE or DELETE_FROM_DATABASE."
  }

  validation {
    condition     = contains(["CRAWL_EVERYTHING", "CRAWL_NEW_FOLDERS_ONLY"], var.changes.recrawl)
    error_message = "changes.recrawl is ${var.changes.recrawl}; write CRAWL_EVERYTHING or CRAWL_NEW_FOLDERS_ONLY."
  }

  validation {
    condition     = contains(["LOG", "UPDATE_IN_DATABASE"], var.changes.update)
    error_message = "changes.update is ${var.changes.update}; write LOG or UPDATE_IN_DATABASE."
  }

  validation {
    condition     = var.changes.recrawl != "CRAWL_NEW_FOLDERS_ONLY" || (var.changes.delete == "LOG" && var.changes.update == "LOG")
    error_message = "changes has ${jsonencode(var.changes)}; Glue takes CRAWL_NEW_FOLDERS_ONLY only with delete and update LOG."
  }
}

variable "database" {
  description = "The Glue database that the crawler makes its tables in."
  type        = string
}

variable "folders" {
  description = "The folders of the bucket that it crawls, such as plain/readings: each becomes one table."
  type        = set(string)

  validation {
    condition     = length(var.folders) > 0 && alltrue([for folder in var.folders : can(regex("^[^/].*[^/]$", folder))])
    error_message = "folders has ${jsonencode(var.folders)}; give one or more, without a slash at their ends."
  }
}

variable "name" {
  description = "The name of the crawler and its role."
  type        = string
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of its role; null for none."
  type        = string
  default     = null
}

variable "region" {
  description = "The region of the crawler."
  type        = string
}

variable "schedule" {
  description = "When it crawls, such as cron(0 6 * * ? *) in UTC; null: when somebody starts it."
  type        = string
  default     = null

  validation {
    condition     = var.schedule == null || can(regex("^cron\\(\\S+ \\S+ \\S+ \\S+ \\S+ \\S+\\)$", var.schedule))
    error_message = "The schedule is ${coalesce(var.schedule, "null")}; write cron(...) with six fields."
  }
}

variable "table_prefix" {
  description = "The beginning of the names of its tables: it may write no others."
  type        = string
  default     = "crawled_"

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]*$", var.table_prefix))
    error_message = "The table_prefix is ${var.table_prefix}; use lower case, digits and underscores: its role is limited to tables that begin with it."
  }
}
