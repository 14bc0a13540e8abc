variable "account_id" {
  description = "The account of the programs."
  type        = string
}

variable "backups" {
  description = "Backups of registries, as s3:// URLs."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for url in var.backups : can(regex("^s3://[a-z0-9.-]+/[A-Za-z0-9!_.()/-]+$", url))])
    error_message = "registry_backups is ${join(", ", var.backups)}; write s3://BUCKET/KEY, the key with letters, digits and ! _ . - ( ) /."
  }
}

variable "lake" {
  description = "The lake's bucket, and that of what is parked."
  type        = object({ bucket = object({ arn = string }), parked_bucket = object({ arn = string }) })
}

variable "leases" {
  description = "The table of functions' leases."
  type        = object({ arn = string, name = string })
}

variable "partition" {
  description = "The partition of the account, such as aws."
  type        = string
}

variable "prefix" {
  description = "The prefix of the names of all tables."
  type        = string
}

variable "reader_role_arn" {
  description = "The role with which programs read the producer's schemas."
  type        = string
}

variable "region" {
  description = "The region of the programs."
  type        = string
}

variable "registry_secrets" {
  description = "The ARNs of the secrets of other registries than Glue."
  type        = list(string)
  default     = []
}

variable "secret_name" {
  description = "The name of the secret with the Kafka login."
  type        = string
}

variable "writers" {
  description = "What functions and jobs write, by name: the dead-letter table and tables of rows, whether a row may replace an older one, and whether rows are read by their keys."
  type = map(object({
    errors  = object({ arn = string })
    reads   = optional(bool, false)
    tables  = list(object({ arn = string }))
    upserts = bool
  }))
}
