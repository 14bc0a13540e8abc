variable "account_id" {
  description = "The account that this root is applied to."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "check_quotas" {
  description = "Whether a plan reads the account's quotas and refuses what they do not allow; false for a deploy role without rights on Service Quotas."
  type        = bool
  default     = true
}

variable "clients" {
  description = "Programs of your own in this VPC, by name; the output clients has what each needs."
  type = map(object({
    # An instance to run it on; {} takes the defaults of infra/modules/client-host.
    host              = optional(object({ image_parameter = optional(string), instance_type = optional(string), packages_bucket = optional(string), volume_gib = optional(number) }))
    security_group_id = optional(string)
  }))
  default = {}
}

variable "consumer_functions" {
  description = "The consumer functions, by name (consumer, or consumer-NAME): the table that each writes, the topics that it reads (all of the contract unless given), and its memory."
  type = map(object({
    memory_mib = optional(number)
    # Whether it starts from a snapshot of its code, initialized (SnapStart), which costs.
    snap_start = optional(bool, false)
    table      = optional(string, "readings")
    topics     = optional(set(string))
  }))
  default = { consumer = {} }
}

variable "contract" {
  description = "The contract of this consumer with the producer's account, written by `make contract CONSUMER=name`."
  type = object({
    consumer            = string
    producer_account_id = string
    region              = string
    exposure            = string
    acceptance_required = optional(bool, true)
    peering             = optional(object({ cidr = string, vpc_id = string }))
    cluster             = object({ arn = string, name = string, zone_name = string })
    brokers             = map(object({ host = string, port = number, service_id = optional(string), service_name = optional(string), tls_port = optional(number), zone_ids = list(string) }))
    topics              = list(string)
    writes              = optional(list(string), [])
    group_prefix        = string
    registry            = object({ arn = string, external_id = string, name = string, role_arn = string })
    registries          = optional(list(object({ cidr = optional(string), port = number, secret_arn = optional(string), security_group_id = optional(string), url = string })))
    unframed            = optional(map(string))
    hand_over           = object({ external_id = string, role_arn = string })
    programs            = map(object({ certificate = optional(string), group_prefix = string, rotation = optional(number), secret_arn = optional(string), topics = list(string), transactions = optional(bool), usernames = optional(list(string)), writes = list(string) }))
  })
}

variable "dead_letters_of" {
  description = "The jobs of extensions that have dead letters, as those of change data capture: the dead-letter table of each is made, counted and watched here."
  type        = set(string)
  default     = []

  validation {
    condition     = length(setintersection(var.dead_letters_of, concat(keys(var.jobs), [for name in keys(var.consumer_functions) : trimprefix(name, "consumer-")]))) == 0
    error_message = "dead_letters_of has ${join(", ", var.dead_letters_of)}, and jobs and functions, ${join(", ", concat(keys(var.jobs), keys(var.consumer_functions)))}, have dead-letter tables by their names; give the job of the extension another name."
  }
}

variable "deploy_role_arn" {
  description = "The role that Terraform assumes in this account; the producer must list it as this consumer's deploy_role_arn."
  type        = string
  default     = null
}

variable "functions" {
  description = "The functions: the zips of `make build`, their architecture and Python version, memory, and reserved concurrency."
  type = object({
    architecture   = optional(string, "arm64")
    memory_mib     = optional(number, 512)
    packages       = optional(string, "../../build")
    python_version = optional(string, "3.13")
    # Of each scheduled function. An account keeps 100 unreserved; a lease keeps a function from working twice at once.
    reserved_concurrency = optional(number)
  })
  default = {}
}

variable "jobs" {
  description = "The Spark jobs that read topics into tables, by name; infra/modules/job says what each attribute means."
  type = map(object({
    arguments  = optional(map(map(string)))
    checkpoint = optional(string)
    program    = optional(string)
    reads      = optional(list(string))
    schedules  = optional(map(string))
    staging    = optional(object({ plan = string, retry_seconds = optional(number), schedule = optional(string), waiting_records = optional(number) }))
    transform  = optional(string)
    trigger    = optional(string)
    workers = optional(map(object({
      driver            = optional(object({ cores = optional(number), memory_gib = optional(number) }))
      executor          = optional(object({ cores = optional(number), disk_gib = optional(number), memory_gib = optional(number) }))
      initial_executors = optional(number)
      max_executors     = optional(number)
    })))
    # By schema: its table; * alone for one table of all schemas.
    writes = optional(map(string), {})
  }))
  default = { consume = { writes = { "*" = "readings" } } }

  validation {
    condition     = length(distinct([for name, job in var.jobs : coalesce(job.checkpoint, name)])) == length(var.jobs)
    error_message = "The checkpoints are ${join(", ", [for name, job in var.jobs : coalesce(job.checkpoint, name)])}; give each job a folder of its own."
  }
  validation {
    # Nobody has asked for the default.
    condition     = var.spark != null || contains([jsonencode({}), jsonencode({ consume = { writes = { "*" = "readings" } } })], jsonencode({ for name, job in var.jobs : name => { for key, value in job : key => value if value != null } }))
    error_message = "jobs has ${join(", ", keys(var.jobs))} and spark is null, so that no job is made; leave spark out to have them, or leave jobs out."
  }
}

variable "lake" {
  description = "The lake: the jobs that also write plain Parquet files with a Glue table TABLE_plain, and the limit of bytes that a query of the Athena work group scans."
  type = object({
    parquet           = optional(object({ jobs = optional(set(string), []) }), {})
    query_limit_bytes = optional(number, 107374182400)
  })
  default = {}

  validation {
    condition     = length(setsubtract(var.lake.parquet.jobs, keys(var.jobs))) == 0
    error_message = "lake.parquet.jobs has ${join(", ", var.lake.parquet.jobs)}; name jobs of this root (${join(", ", keys(var.jobs))})."
  }
}

variable "mapping" {
  description = "The event source mappings of the consumer functions."
  type = object({
    batching = optional(object({ size = optional(number, 100), window_seconds = optional(number, 1) }), {})
    # An alarm rings if more records of a partition wait: for a function for 15 minutes, for a job after each batch that
    # ends within 15 minutes, or after its last one.
    lag_records = optional(number, 10000)
    # A batch that failed eleven times is parked, so that later ones pass it; else it is retried until it succeeds. A change
    # replaces the mappings.
    park_failed_batches = optional(bool, false)
    # Null: on-demand pollers. To turn it on or off replaces the mappings.
    provisioned = optional(object({ minimum_pollers = optional(number, 1), maximum_pollers = optional(number, 2) }))
  })
  default = {}
}

variable "network" {
  description = "The VPC's address range and zones by id, at least one of them a zone of the brokers, or an existing VPC: one root for each VPC, since private names of one would hide those of another."
  type = object({
    cidr = optional(string, "10.1.0.0/16")
    # Add one at the end: its position gives a new subnet its range.
    zone_ids = list(string)
    # Whether the endpoint for S3 lets through the buckets of EMR that clusters on EC2 use.
    emr_buckets = optional(bool, false)
    # With the endpoints that it has (infra/modules/network).
    existing = optional(object({ vpc_id = string, interface_endpoints = optional(map(string), {}), prefix_list_ids = optional(map(string), {}), route_table_ids = list(string), subnet_ids = map(string) }))
    # Of extensions, such as ssm, besides those that the root needs.
    interface_endpoints = optional(set(string), [])
    other_cidrs         = optional(set(string), [])
  })
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of every role that this root creates, for accounts that demand one; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.permissions_boundary == null ? true : can(regex("^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+$", var.permissions_boundary))
    error_message = "permissions_boundary is ${coalesce(var.permissions_boundary, "null")}; give the ARN of a managed policy."
  }
}

variable "prefix" {
  description = "The prefix of all names in this root, penstock-<consumer> by default."
  type        = string
  default     = null

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", coalesce(var.prefix, "penstock"))) && !can(regex("^(aws|internal-|sg-)", coalesce(var.prefix, "penstock")))
    error_message = "prefix is ${coalesce(var.prefix, "null")}; use 2 to 24 small letters, digits and dashes, since names of buckets are short, a letter first, and neither aws, internal- nor sg- at the beginning, which AWS keeps for names of its own."
  }
}

variable "registry_backups" {
  description = "Backups of deleted registries, as s3:// URLs in buckets of this account, with which their records are read (docs/operate/schemas.md#the-registry-was-deleted)."
  type        = list(string)
  default     = []
}

variable "retention" {
  description = "Protection of tables, deletion of buckets with their objects, and days to keep: deleted keys and secrets, logs, and dead letters that are done or parked."
  type = object({
    deletion_protection  = optional(bool, true)
    force_destroy        = optional(bool, false)
    key_deletion_days    = optional(number, 30)
    log_days             = optional(number, 365)
    secret_recovery_days = optional(number, 30)
    settled_days         = optional(number)
  })
  default = {}

  validation {
    condition     = contains(range(7, 31), var.retention.key_deletion_days)
    error_message = "retention.key_deletion_days is ${var.retention.key_deletion_days}; KMS takes 7 to 30."
  }
  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.retention.log_days)
    error_message = "retention.log_days is ${var.retention.log_days}; choose a number of days that CloudWatch knows, such as 7, 30, 90 or 365."
  }
  validation {
    condition     = try(var.retention.settled_days >= 1 && floor(var.retention.settled_days) == var.retention.settled_days, var.retention.settled_days == null)
    error_message = "retention.settled_days is ${coalesce(var.retention.settled_days, 0)}; give whole days, at least 1."
  }
}

variable "spark" {
  description = "The EMR Serverless application of the jobs; null for no Spark."
  type = object({
    # infra/modules/spark-application says what each means.
    application = optional(object({
      architecture  = optional(string, "ARM64")
      idle_minutes  = optional(number, 15)
      release_label = optional(string, "emr-spark-8.1.0")
      maximum       = optional(object({ cpu = optional(string, "16 vCPU"), memory = optional(string, "64 GB") }), {})
    }), {})
    # Jars of EMR's image in place of those in the folder jars.
    image_jars = optional(list(string), [])
    jars       = optional(string, "../../jars/spark/lib")
    jobs       = optional(string, "../../jobs")
  })
  default = {}

  validation {
    condition     = var.spark == null ? true : length(fileset(var.spark.jars, "*.jar")) > 0
    error_message = "There are no jars in ${try(var.spark.jars, "")}; fetch them with `make install`, or set spark to null."
  }
}

variable "status" {
  description = "The minutes between two counts of open dead letters, and the number above which an alarm starts."
  type        = object({ dead_letters = optional(number), minutes = optional(number) })
  default     = {}
}

variable "subscribers" {
  description = "E-mail addresses that are notified of alarms and parked records."
  type        = set(string)
  default     = []
}

variable "tables" {
  description = "The shapes of rows, by table; a table that is not here holds readings of sensors (docs/settings.md says what each setting does)."
  type = map(object({
    deleted_when = optional(object({ field = string, values = list(string) }))
    event_time   = optional(string)
    key          = optional(list(string))
    key_format   = optional(string)
    key_name     = optional(string)
    mode         = optional(string)
    order        = optional(list(string))
    sort         = optional(list(string))
    sort_name    = optional(string)
    tombstone    = optional(string)
  }))
  default = {}
}

variable "tags" {
  description = "Tags of every resource besides application and part, such as the cost centre and the owner; objects in buckets get none."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(var.tags) <= 40 && alltrue([for key, value in var.tags : can(regex("^[A-Za-z0-9 _.:/=+@-]{1,128}$", key)) && !startswith(lower(key), "aws:") && can(regex("^[A-Za-z0-9 _.:/=+@-]{0,256}$", value))])
    error_message = "The tags are ${jsonencode(var.tags)}; give up to 40, of letters, digits, spaces and _.:/=+@-, no key beginning with aws:."
  }
}
