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

variable "folders" {
  description = "The folders of the lake's bucket that it crawls, each of which becomes one table; null: those of jobs that write plain Parquet."
  type        = set(string)
  default     = null

  validation {
    condition     = var.folders == null ? length(var.platform.lake.plain_folders) > 0 : length(var.folders) > 0
    error_message = "plain_parquet has no folders; name them, or jobs that write plain files in lake.parquet.jobs of the consumer's root."
  }
  validation {
    condition     = alltrue([for folder in coalesce(var.folders, []) : can(regex("^[^/].*[^/]$", folder))])
    error_message = "folders has ${jsonencode(var.folders)}; give them without a slash at their ends."
  }
}

variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    lake = object({
      bucket        = object({ arn = string, name = string })
      database      = object({ name = string })
      plain_folders = list(string)
    })
  })
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
