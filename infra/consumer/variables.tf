variable "account_id" {
  description = "The account that this root is applied to."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "contract" {
  description = "What the producer's account says that its consumers need to know: `make contract CONSUMER=name` writes it here."
  type = object({
    consumer            = string
    producer_account_id = string
    region              = string
    exposure            = string
    acceptance_required = optional(bool, true)
    cluster = object({
      arn       = string
      name      = string
      zone_name = string
    })
    brokers = map(object({
      host         = string
      port         = number
      service_id   = optional(string)
      service_name = optional(string)
      zone_ids     = list(string)
    }))
    topics       = list(string)
    group_prefix = string
    registry = object({
      arn         = string
      external_id = string
      name        = string
      role_arn    = string
    })
    hand_over = object({
      external_id = string
      role_arn    = string
      rotation    = number
      secret_arn  = string
      username    = string
    })
  })
}

variable "deploy_role_arn" {
  description = "A role of the account for Terraform to act as; the producer must know it as this consumer's deploy_role_arn."
  type        = string
  default     = null
}

variable "functions" {
  description = "The zips that `make build` made, and what the function's was made for."
  type = object({
    architecture   = optional(string, "arm64")
    memory_mib     = optional(number, 512)
    packages       = optional(string, "../../build")
    python_version = optional(string, "3.13")
  })
  default = {}
}

variable "mapping" {
  description = "How records come to the consumer function: in what batches, with how many pollers of its own (none: Lambda's shared ones), and whether a batch that failed eleven times is parked, so that others pass it, or comes again until it is done."
  type = object({
    batching = optional(object({
      size           = optional(number, 100)
      window_seconds = optional(number, 1)
    }), {})
    park_failed_batches = optional(bool, false)
    provisioned = optional(object({
      minimum_pollers = optional(number, 1)
      maximum_pollers = optional(number, 2)
    }))
  })
  default = {}
}

variable "network" {
  description = "The VPC's address range and its zones by id, of which at least one must be a zone of the brokers, or an existing VPC with the endpoints that it has (infra/modules/network says which): one root per VPC, since private names of one would hide those of another."
  type = object({
    cidr     = optional(string, "10.1.0.0/16")
    zone_ids = list(string)
    existing = optional(object({
      vpc_id              = string
      interface_endpoints = optional(map(string), {})
      prefix_list_ids     = optional(map(string), {})
      route_table_ids     = list(string)
      subnet_ids          = map(string)
    }))
    other_cidrs = optional(set(string), [])
  })
}

variable "prefix" {
  description = "What the names of everything in this root begin with; penstock-<consumer> unless it is given."
  type        = string
  default     = null

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", coalesce(var.prefix, "penstock")))
    error_message = "prefix is ${coalesce(var.prefix, "null")}; use 2 to 24 small letters, digits and dashes, a letter first, since names of buckets are short."
  }
}

variable "retention" {
  description = "What may be lost: buckets deleted with their objects (force_destroy), tables (unless deletion_protection), days until deleted secrets and keys are gone, days that logs are kept, and rows of errors that were settled (done or parked)."
  type = object({
    deletion_protection  = optional(bool, true)
    force_destroy        = optional(bool, false)
    key_deletion_days    = optional(number, 30)
    log_days             = optional(number, 365)
    secret_recovery_days = optional(number, 30)
    settled_days         = optional(number, 365)
  })
  default = {}

  validation {
    condition     = contains(range(7, 31), var.retention.key_deletion_days)
    error_message = "retention.key_deletion_days is ${var.retention.key_deletion_days}; KMS takes 7 to 30."
  }
  validation {
    condition = contains(
      [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653],
      var.retention.log_days
    )
    error_message = "retention.log_days is ${var.retention.log_days}; choose a number of days that CloudWatch knows, such as 7, 30, 90 or 365."
  }
  validation {
    condition     = var.retention.settled_days >= 1 && floor(var.retention.settled_days) == var.retention.settled_days
    error_message = "retention.settled_days is ${var.retention.settled_days}; give whole days, at least 1."
  }
}

variable "spark" {
  description = "The Spark jobs: their EMR Serverless application (infra/modules/spark-application says what each means), the folders of the jars and of the job files, when the job that consumes reads, at an interval for ever or once (available-now) what there is, the folder of its checkpoint, the field that the lake is partitioned by, by schema the table that its records go to (routes; one for all unless given), and by job other flags, without dashes; null for no Spark."
  type = object({
    application = optional(object({
      architecture  = optional(string, "ARM64")
      idle_minutes  = optional(number, 15)
      release_label = optional(string, "emr-spark-8.1.0")
      maximum = optional(object({
        cpu    = optional(string, "32 vCPU")
        memory = optional(string, "128 GB")
      }), {})
    }), {})
    checkpoint = optional(string, "consume")
    event_time = optional(string, "timestamp")
    flags      = optional(map(map(string)), {})
    jars       = optional(string, "../../jars/spark/lib")
    jobs       = optional(string, "../../jobs")
    routes     = optional(map(string), {})
    trigger    = optional(string, "10 seconds")
  })
  default = {}

  validation {
    condition     = can(regex("^[a-z0-9-]+$", try(var.spark.checkpoint, "consume")))
    error_message = "spark.checkpoint is ${try(var.spark.checkpoint, "")}; name a folder with small letters, digits and dashes."
  }
  validation {
    condition = alltrue(flatten([
      for job, flags in try(var.spark.flags, {}) : [for flag in keys(flags) : contains(lookup(local.free_flags, job, []), flag)]
    ]))
    error_message = "spark.flags has ${jsonencode(try(var.spark.flags, {}))}; choose from ${jsonencode(local.free_flags)}, since the other flags follow from what else is set, with the rights that they need."
  }
  validation {
    condition     = var.spark == null ? true : length(fileset(var.spark.jars, "*.jar")) > 0
    error_message = "There are no jars in ${try(var.spark.jars, "")}; fetch them with `make install`, or set spark to null."
  }
  validation {
    condition = alltrue([
      for schema, table in try(var.spark.routes, {}) :
      can(regex("^[A-Za-z0-9_.$#-]+$", schema)) && can(regex("^[a-z0-9_]+$", table)) && !contains(["errors", "parked_records"], table)
    ])
    error_message = "spark.routes is ${jsonencode(try(var.spark.routes, {}))}; name schemas as the registry does, tables with small letters, digits and underscores, and none errors or parked_records, which are other tables."
  }
  validation {
    condition     = length(distinct(values(try(var.spark.routes, {})))) == length(try(var.spark.routes, {}))
    error_message = "spark.routes is ${jsonencode(try(var.spark.routes, {}))}; give each schema a table of its own."
  }
  validation {
    condition     = can(regex("^(available-now|[1-9][0-9]* (second|minute|hour)s?)$", try(var.spark.trigger, "available-now")))
    error_message = "spark.trigger is ${try(var.spark.trigger, "")}; write available-now, or an interval like 30 seconds."
  }
}

variable "subscribers" {
  description = "E-mail addresses that alarms and notices of parked records are sent to."
  type        = set(string)
  default     = []
}
