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

variable "secret_names" {
  description = "The names of the secrets with the Kafka logins, by program."
  type        = map(string)
}

variable "store" {
  description = "The tables by name: dead letters, and rows."
  type = object({
    errors   = map(object({ arn = string }))
    readings = map(object({ arn = string, name = string }))
  })
}

variable "upserts" {
  description = "The tables whose rows may replace older ones, which is one call each; those of plans are among them."
  type        = set(string)
  default     = []
}

variable "writers" {
  description = "What functions and jobs write, by name: the names of the dead-letter table and of tables of rows, and whether rows are read by their keys."
  type        = map(object({ errors = string, reads = optional(bool, false), tables = list(string) }))
}
