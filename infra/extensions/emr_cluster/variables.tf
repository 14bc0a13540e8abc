variable "cluster" {
  description = "The cluster; infra/modules/emr-cluster says what each attribute means."
  type = object({
    concurrent_steps       = optional(number)
    core_nodes             = optional(number)
    core_type              = optional(string)
    idle_minutes           = optional(number)
    primary_type           = optional(string)
    release_label          = optional(string)
    termination_protection = optional(bool)
    volume_gib             = optional(number)
  })
  default = {}
}

variable "jobs" {
  description = "The names of the jobs whose runs are steps of the cluster."
  type        = set(string)

  validation {
    condition     = length(var.jobs) > 0 && length(setsubtract(var.jobs, concat(try(keys(var.platform.jobs.named), []), keys(var.jobs_of_others)))) == 0
    error_message = "emr_cluster has the jobs ${join(", ", var.jobs)}; name at least one, and jobs of the consumer's root or of jobs_of_others (${join(", ", concat(try(keys(var.platform.jobs.named), []), keys(var.jobs_of_others)))})."
  }
  validation {
    condition     = alltrue(flatten([for name in var.jobs : [for run in try(merge({ for job, made in var.platform.jobs.named : job => made.runs }, { for job, made in var.jobs_of_others : job => made.runs })[name], {}) : run.schedule == null || run.role != name]]))
    error_message = "The jobs ${join(", ", var.jobs)} have schedules for other runs than their replay and maintenance; an idle cluster terminates and takes no step, and schedules start EMR Serverless: take the schedules out, or the job out of emr_cluster."
  }
}

variable "jobs_of_others" {
  description = "Jobs of other extensions by name, such as module.sales.jobs."
  type = map(object({
    lake            = object({ database = list(string), tables = list(string) })
    parameters_path = optional(string)
    policies        = map(string)
    runs            = map(object({ arguments = list(string), program = string, role = string, schedule = optional(string) }))
  }))
  default = {}
}

variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    alarms               = object({ topic_arn = string })
    jobs = object({
      artifacts        = object({ archives = map(string), archives_hash = string, configuration = map(string), jars = list(string), pyfiles = string })
      artifacts_bucket = object({ name = string })
      named = map(object({
        lake     = object({ database = list(string), tables = list(string) })
        policies = map(string)
        runs     = map(object({ arguments = list(string), program = string, role = string, schedule = optional(string) }))
      }))
    })
    network = object({
      egress = map(object({
        port              = number
        to_port           = optional(number)
        cidr              = optional(string)
        prefix_list_id    = optional(string)
        security_group_id = optional(string)
      }))
      emr_buckets         = bool
      interface_endpoints = list(string)
      subnet_ids          = list(string)
      vpc_id              = string
    })
    retention = object({ force_destroy = bool, key_deletion_days = number, log_days = number })
  })

  validation {
    condition     = var.platform.jobs != null
    error_message = "The platform has no Spark; set spark in the consumer's root, or take emr_cluster out of extensions.tf."
  }
  validation {
    condition     = var.platform.network.emr_buckets
    error_message = "The endpoint for S3 lets no bucket of EMR through, from which nodes install packages; set network.emr_buckets = true in the consumer's root."
  }
}
