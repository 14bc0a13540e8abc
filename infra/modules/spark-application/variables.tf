variable "account_id" {
  description = "The account of the application."
  type        = string
}

variable "application" {
  description = "The application: its release and processors, the most that its workers may have together, and the minutes without a job after which it stops."
  type = object({
    architecture = optional(string, "ARM64")
    idle_minutes = optional(number, 15)
    maximum = optional(object({
      cpu    = optional(string, "16 vCPU")
      memory = optional(string, "64 GB")
    }), {})
    release_label = optional(string, "emr-spark-8.1.0")
  })
  default = {}

  validation {
    condition     = contains(["ARM64", "X86_64"], upper(var.application.architecture))
    error_message = "The architecture is ${var.application.architecture}; choose arm64 or x86_64."
  }
  validation {
    condition     = var.application.idle_minutes >= 1 && var.application.idle_minutes <= 10080
    error_message = "idle_minutes is ${var.application.idle_minutes}; give 1 to 10080, which is a week."
  }
  validation {
    condition     = can(regex("^[0-9]+ vCPU$", var.application.maximum.cpu)) && can(regex("^[0-9]+ GB$", var.application.maximum.memory))
    error_message = "The maximum is ${jsonencode(var.application.maximum)}; write it as 16 vCPU and 64 GB."
  }
  validation {
    condition     = contains(local.fitting_releases, var.application.release_label)
    error_message = "release_label is ${var.application.release_label}, ${try("with Spark ${local.releases.emr[var.application.release_label].spark} and Scala ${local.releases.emr[var.application.release_label].scala}", "which infra/modules/releases.json does not know")}; the jars need Spark ${local.releases.jars.spark} and Scala ${local.releases.jars.scala}: choose ${join(", ", local.fitting_releases)}."
  }
}

variable "artifacts" {
  description = "The artifacts of the jobs by name, and the Spark settings of all runs: archives, jars, programs and the package's zip by path, jars of EMR's image by path there, other files by content."
  type = object({
    archives      = optional(map(string), {})
    configuration = optional(map(string), {})
    files         = optional(map(string), {})
    image_jars    = optional(list(string), [])
    jars          = optional(map(string), {})
    programs      = optional(map(string), {})
    pyfiles       = string
  })

  validation {
    condition = alltrue([
      for path in concat([var.artifacts.pyfiles], values(var.artifacts.archives), values(var.artifacts.programs), values(var.artifacts.jars)) : fileexists(path)
    ])
    error_message = "There is no file ${join(", ", [for path in concat([var.artifacts.pyfiles], values(var.artifacts.archives), values(var.artifacts.programs), values(var.artifacts.jars)) : path if !fileexists(path)])}; make the zips with `make build`, and the jars with `make install`."
  }
  validation {
    condition     = alltrue([for path in var.artifacts.image_jars : can(regex("^/[^ ,]+[.]jar$", path))])
    error_message = "The image_jars are ${join(", ", var.artifacts.image_jars)}; give absolute paths of jars in EMR's image, such as /usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar."
  }
  validation {
    condition = alltrue([
      for name in concat(keys(var.artifacts.archives), keys(var.artifacts.files), keys(var.artifacts.jars), keys(var.artifacts.programs)) :
      can(regex("^[A-Za-z0-9][A-Za-z0-9._-]*$", name))
    ])
    error_message = "The artifacts are ${join(", ", concat(keys(var.artifacts.archives), keys(var.artifacts.files), keys(var.artifacts.jars), keys(var.artifacts.programs)))}; name each with letters, digits, dots, dashes and underscores."
  }
}

variable "network" {
  description = "The VPC, subnets and egress of the jobs: each rule is a TCP port (or the ports up to to_port) of a range of addresses (cidr), a prefix list or a security group, by name."
  type = object({
    vpc_id     = string
    subnet_ids = list(string)
    egress = map(object({
      port              = number
      to_port           = optional(number)
      cidr              = optional(string)
      prefix_list_id    = optional(string)
      security_group_id = optional(string)
    }))
  })

  validation {
    condition     = length(var.network.subnet_ids) > 0
    error_message = "network.subnet_ids is empty; give at least one subnet."
  }
  validation {
    condition = alltrue([
      for way in values(var.network.egress) :
      length([for target in [way.cidr, way.prefix_list_id, way.security_group_id] : target if target != null]) == 1
    ])
    error_message = "The egress ${join(", ", keys(var.network.egress))} leads to none or several of cidr, prefix_list_id and security_group_id; give each way one of them."
  }
}

variable "parameters" {
  description = "Parameters by execution role and name, as infra/modules/spark-jobs takes them."
  type        = map(map(string))
  default     = {}
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

variable "region" {
  description = "The region of the application."
  type        = string
}

variable "retention" {
  description = "Retention: force_destroy deletes the bucket with its artifacts; days until a deleted key is gone, days of logs."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
    log_days          = optional(number, 365)
  })
  default = {}
}

variable "roles" {
  description = "The execution roles by name, each with its IAM policy, as infra/modules/spark-jobs takes them."
  type        = map(string)
  default     = {}
}

variable "runs" {
  description = "The runs by name, as infra/modules/spark-jobs takes them, each with the name of its program."
  type = map(object({
    arguments = optional(list(string))
    program   = string
    role      = string
    schedule  = optional(string)
    streaming = optional(bool)
    workers = optional(object({
      driver            = optional(object({ cores = optional(number), memory_gib = optional(number) }))
      executor          = optional(object({ cores = optional(number), disk_gib = optional(number), memory_gib = optional(number) }))
      initial_executors = optional(number)
      max_executors     = optional(number)
    }))
  }))
  default = {}

  validation {
    condition     = length(setsubtract(values(var.runs)[*].program, keys(var.artifacts.programs))) == 0
    error_message = "There are runs of the programs ${join(", ", distinct(values(var.runs)[*].program))}; give each of them a file in artifacts.programs."
  }
}
