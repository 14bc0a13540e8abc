variable "alarms" {
  description = "The GiB of log that the replication slot may retain, and the GiB of free storage below which an alarm rings."
  type = object({
    free_gib     = optional(number, 10)
    retained_gib = optional(number, 5)
  })
  default = {}

  validation {
    condition     = var.alarms.retained_gib > 0 && try(var.alarms.retained_gib < var.database.instance.max_slot_wal_gib, true)
    error_message = "alarms.retained_gib is ${var.alarms.retained_gib}; give more than 0 and less than database.instance.max_slot_wal_gib, at which PostgreSQL drops what the slot needs."
  }
}

variable "database" {
  description = "The database: an RDS instance that this makes, one that exists (with its identifier if it is of RDS), or the endpoint service of another account."
  type = object({
    name = string
    port = optional(number, 5432)
    # By name, the security groups of hosts that prepare and look after the database, which its security group lets in.
    admins           = optional(map(string), {})
    endpoint_service = optional(string)
    existing         = optional(object({ host = string, security_group_id = string, identifier = optional(string) }))
    instance = optional(object({
      class               = optional(string, "db.t4g.medium")
      backup_days         = optional(number, 7)
      deletion_protection = optional(bool, true)
      # Whether a changed version may be another major one, which RDS then makes at once, once no slot is there (docs/cdc.md).
      major_upgrade = optional(bool, false)
      # The log that a slot may retain before PostgreSQL gives it up: the database goes on, and the connector must snapshot again.
      max_slot_wal_gib = optional(number, 20)
      multi_az         = optional(bool, true)
      storage_gib      = optional(number, 100)
      username         = optional(string, "postgres")
      version          = optional(string, "15")
    }))
  })

  validation {
    condition     = length([for given in [var.database.endpoint_service, var.database.existing, var.database.instance] : true if given != null]) == 1
    error_message = "database has ${length([for given in [var.database.endpoint_service, var.database.existing, var.database.instance] : true if given != null])} of endpoint_service, existing and instance; give one: instance = {} for a new database, existing for one in reach, or endpoint_service for one of another account."
  }
  validation {
    condition     = var.database.instance == null || try(var.database.instance.max_slot_wal_gib < var.database.instance.storage_gib, true)
    error_message = "database.instance.max_slot_wal_gib is ${try(var.database.instance.max_slot_wal_gib, 0)}; give less than storage_gib, so that a slot that nobody reads cannot fill the disk."
  }
  validation {
    condition     = !(var.prepared && try(var.database.instance.major_upgrade, false))
    error_message = "database.instance.major_upgrade is true while the connector is prepared, and RDS upgrades no database with its slot; apply with prepared = false, drop the slot, and upgrade then."
  }
}

variable "flatten" {
  description = "Whether records have the row alone, with __op, __lsn and others, instead of Debezium's envelope."
  type        = bool
  default     = false
}

variable "heartbeat_seconds" {
  description = "The seconds between heartbeats, which let the slot move on while the tables do not change."
  type        = number
  default     = 10

  validation {
    condition     = var.heartbeat_seconds >= 1
    error_message = "heartbeat_seconds is ${var.heartbeat_seconds}; give at least 1: without heartbeats other databases of the server fill the log."
  }
}

variable "login" {
  description = "The database user of the connector, and a number to raise for a new password, which the output rotate_sql sets in the database."
  type = object({
    rotation = optional(number, 1)
    username = optional(string, "debezium")
  })
  default = {}
}

variable "mcu_count" {
  description = "The size of the worker: 1, 2, 4 or 8 MSK Connect units, of 1 vCPU and 4 GiB each."
  type        = number
  default     = 1

  validation {
    condition     = contains([1, 2, 4, 8], var.mcu_count)
    error_message = "mcu_count is ${var.mcu_count}; MSK Connect has workers of 1, 2, 4 and 8."
  }
}

variable "name" {
  description = "The name of the connector, which begins the names of its topics: NAME.SCHEMA.TABLE."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]{0,23}$", var.name))
    error_message = "The connector is called ${var.name}; use up to 24 small letters, digits and underscores, a letter first: it also names the replication slot."
  }
}

variable "platform" {
  description = "The platform, as the producer's root puts it out."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    alarms               = object({ topic_arn = string })
    brokers              = object({ bootstrap_servers = string, name = string, security_group_id = string })
    network = object({
      endpoint_security_group_ids = map(string)
      interface_endpoints         = list(string)
      subnet_ids                  = list(string)
      vpc_id                      = string
    })
    retention = object({
      force_destroy        = bool
      key_deletion_days    = number
      log_days             = number
      secret_recovery_days = number
    })
  })

  validation {
    condition     = contains(var.platform.network.interface_endpoints, "secretsmanager")
    error_message = "The VPC has no endpoint for secretsmanager, through which the worker reads its password; add secretsmanager to network.interface_endpoints of the producer's root."
  }
}

variable "plugin" {
  description = "The zip of the plugin, by default the one of the registry that `make build` writes."
  type        = string
  default     = null
}

variable "prepared" {
  description = "Whether the database has the user and the publication of the output setup_sql; before, all but the connector is made."
  type        = bool
  default     = false
}

variable "registry" {
  description = "The registry of schemas: the name of one of Glue in this account, or the URL of Apicurio and the way there, a security group or addresses."
  type = object({
    cidr              = optional(string)
    glue              = optional(string)
    security_group_id = optional(string)
    url               = optional(string)
  })

  validation {
    condition     = (var.registry.glue == null) != (var.registry.url == null)
    error_message = "registry has ${var.registry.glue == null ? "neither glue nor url" : "both glue and url"}; give the name of a registry of Glue, or the URL of Apicurio."
  }
  validation {
    condition     = var.registry.url == null || can(regex("^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$", var.registry.url))
    error_message = "registry.url is ${coalesce(var.registry.url, "missing")}; give http://HOST:PORT or https://HOST without a path: the converter adds /apis/registry/v2."
  }
  validation {
    condition     = var.registry.url == null ? var.registry.cidr == null && var.registry.security_group_id == null : (var.registry.cidr == null) != (var.registry.security_group_id == null)
    error_message = "The way to the registry ${coalesce(var.registry.url, var.registry.glue, "without a name")} is missing or named too often; give either registry.security_group_id or registry.cidr for Apicurio, and neither for Glue."
  }
}

variable "settings" {
  description = "Debezium's settings beside those that this writes, such as snapshot.mode or decimal.handling.mode."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(setintersection(keys(var.settings), keys(local.renamed))) == 0
    error_message = "settings has names of older versions of Debezium, which it ignores: ${join(", ", [for name in sort(keys(var.settings)) : "${name} (now ${lookup(local.renamed, name, "")})" if contains(keys(local.renamed), name)])}."
  }
  validation {
    condition     = length(setintersection(keys(var.settings), local.written)) == 0
    error_message = "settings has ${join(", ", setintersection(keys(var.settings), local.written))}, which this module writes; use its inputs."
  }
}

variable "tables" {
  description = "The tables that are read, as SCHEMA.TABLE."
  type        = set(string)

  validation {
    condition     = length(var.tables) > 0 && alltrue([for table in var.tables : can(regex("^[A-Za-z_][A-Za-z0-9_$]*[.][A-Za-z_][A-Za-z0-9_$]*$", table))])
    error_message = "tables has ${jsonencode(var.tables)}; name at least one, each as SCHEMA.TABLE."
  }
}

variable "topics" {
  description = "The partitions and replicas of the topics that the connector creates; -1: as many replicas as the cluster has zones."
  type = object({
    partitions = optional(number, 1)
    replicas   = optional(number, -1)
  })
  default = {}
}
