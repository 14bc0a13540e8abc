variable "account_id" {
  description = "The account of the cluster."
  type        = string
}

variable "artifacts" {
  description = "The artifacts of the jobs on S3: their bucket, archives of Python packages that nodes install and a hash of these, jars (of EMR's image by path), the package's zip, and the Spark settings of all runs."
  type = object({
    archives      = optional(list(string), [])
    archives_hash = optional(string, "")
    bucket        = string
    configuration = optional(map(string), {})
    jars          = optional(list(string), [])
    pyfiles       = string
  })

  validation {
    condition = alltrue(concat(
      [for url in concat(var.artifacts.archives, [var.artifacts.pyfiles]) : can(regex("^s3://[^/ ,]+/[^ ,]+$", url))],
      [for jar in var.artifacts.jars : can(regex("^(s3://[^/ ,]+/[^ ,]+|/[^ ,]+[.]jar)$", jar))],
    ))
    error_message = "The artifacts are ${join(", ", concat(var.artifacts.archives, var.artifacts.jars, [var.artifacts.pyfiles]))}; write each as s3://BUCKET/KEY, and a jar of EMR's image by its path there."
  }
}

variable "cluster" {
  description = "The cluster: its release, steps that may run at once, types and number of nodes, GiB of each volume, minutes without a step after which it terminates, and protection against termination."
  type = object({
    concurrent_steps       = optional(number, 1)
    core_nodes             = optional(number, 2)
    core_type              = optional(string, "m7g.xlarge")
    idle_minutes           = optional(number, 60)
    primary_type           = optional(string, "m7g.xlarge")
    release_label          = optional(string, "emr-spark-8.1.0")
    termination_protection = optional(bool, false)
    volume_gib             = optional(number, 64)
  })
  default = {}

  validation {
    condition     = contains(range(1, 257), var.cluster.concurrent_steps)
    error_message = "cluster.concurrent_steps is ${var.cluster.concurrent_steps}; give 1 to 256, which must fit into the memory of the nodes together."
  }
  validation {
    condition     = var.cluster.core_nodes >= 1 && floor(var.cluster.core_nodes) == var.cluster.core_nodes
    error_message = "cluster.core_nodes is ${var.cluster.core_nodes}; give at least one."
  }
  validation {
    condition     = alltrue([for type in [var.cluster.core_type, var.cluster.primary_type] : can(regex("^[a-z][a-z0-9-]+[.][0-9]*x?large$", type))])
    error_message = "The types of instances are ${var.cluster.primary_type} and ${var.cluster.core_type}; give types of EC2 from large on, such as m7g.xlarge."
  }
  validation {
    condition     = var.cluster.idle_minutes >= 1 && var.cluster.idle_minutes <= 10080
    error_message = "cluster.idle_minutes is ${var.cluster.idle_minutes}; give 1 to 10080, which is a week."
  }
  validation {
    condition     = contains(local.fitting_releases, var.cluster.release_label)
    error_message = "cluster.release_label is ${var.cluster.release_label}, ${try("with Spark ${local.releases.emr[var.cluster.release_label].spark} and Scala ${local.releases.emr[var.cluster.release_label].scala}", "which infra/modules/releases.json does not know")}; the jars need Spark ${local.releases.jars.spark} and Scala ${local.releases.jars.scala}: choose ${join(", ", local.fitting_releases)}."
  }
  validation {
    condition     = var.cluster.volume_gib >= 15 && floor(var.cluster.volume_gib) == var.cluster.volume_gib
    error_message = "cluster.volume_gib is ${var.cluster.volume_gib}; give whole GiB, at least 15."
  }
}

variable "network" {
  description = "The VPC, the private subnet and the egress of the nodes: each rule is a TCP port (or the ports up to to_port) of a range of addresses (cidr), a prefix list or a security group, by name."
  type = object({
    # Whether to make EMR's endpoint: without it, a rule of egress leads to the one that the VPC has.
    endpoint  = optional(bool, true)
    vpc_id    = string
    subnet_id = string
    egress = map(object({
      port              = number
      to_port           = optional(number)
      cidr              = optional(string)
      prefix_list_id    = optional(string)
      security_group_id = optional(string)
    }))
  })

  validation {
    condition = alltrue([
      for way in values(var.network.egress) :
      length([for target in [way.cidr, way.prefix_list_id, way.security_group_id] : target if target != null]) == 1
    ])
    error_message = "The egress ${join(", ", keys(var.network.egress))} leads to none or several of cidr, prefix_list_id and security_group_id; give each way one of them."
  }
}

variable "parameters_path" {
  description = "The path in Parameter Store below which the jobs may read, such as /sales; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.parameters_path == null ? true : can(regex("^(/[A-Za-z0-9_.-]+)+$", var.parameters_path))
    error_message = "parameters_path is ${coalesce(var.parameters_path, "null")}; write a path such as /sales, without a slash at the end."
  }
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of its roles; null for none."
  type        = string
  default     = null
}

variable "policies" {
  description = "The IAM policies of the jobs by name, which all steps share besides reading artifacts and writing logs."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for policy in values(var.policies) : can(jsondecode(policy).Statement)])
    error_message = "A policy of ${join(", ", keys(var.policies))} is no policy; give for each a JSON document with a Statement."
  }
}

variable "prefix" {
  description = "The prefix of all names."
  type        = string
}

variable "region" {
  description = "The region of the cluster."
  type        = string
}

variable "retention" {
  description = "Retention: force_destroy deletes the bucket with the logs; days until a deleted key is gone, days of logs."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
    log_days          = optional(number, 365)
  })
  default = {}
}

variable "runs" {
  description = "The runs by name: the program's S3 URL and its arguments."
  type = map(object({
    arguments = optional(list(string), [])
    program   = string
  }))
  default = {}

  validation {
    condition     = alltrue([for run in values(var.runs) : can(regex("^s3://[^/ ]+/[^ ]+[.]py$", run.program))])
    error_message = "The programs are ${join(", ", values(var.runs)[*].program)}; write each as s3://BUCKET/KEY.py."
  }
}

variable "topic_arn" {
  description = "The topic that is told of steps that failed and of a cluster that ended with errors; rules of EventBridge may publish to it."
  type        = string
}
