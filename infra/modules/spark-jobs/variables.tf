variable "account_id" {
  description = "The account of the application."
  type        = string
}

variable "application" {
  description = "The application, as infra/modules/spark-application puts it out: its names, artifacts, log, settings and the most that its workers may have."
  type = object({
    arn           = string
    bucket        = object({ arn = string, name = string })
    configuration = map(string)
    files         = map(string)
    id            = string
    log_group     = string
    maximum       = object({ cpu = string, memory = string })
    name          = string
    submission    = string
  })
}

variable "parameters" {
  description = "Parameters by execution role and name, which are written to Parameter Store as /PREFIX/ROLE/NAME and which the role may read; no secrets."
  type        = map(map(string))
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.parameters), keys(var.roles))) == 0
    error_message = "There are parameters for ${join(", ", keys(var.parameters))}; name roles, which are ${join(", ", keys(var.roles))}."
  }
}

variable "partition" {
  description = "The partition of the account, such as aws."
  type        = string
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

variable "roles" {
  description = "The execution roles by name, each with its IAM policy besides reading artifacts and writing logs."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for policy in values(var.roles) : can(jsondecode(policy).Statement)])
    error_message = "A policy of the roles ${join(", ", keys(var.roles))} is no policy; give for each a JSON document with a Statement."
  }
  validation {
    condition     = alltrue([for name in keys(var.roles) : can(regex("^[a-z][a-z0-9-]{0,34}$", name))])
    error_message = "The roles are ${join(", ", keys(var.roles))}; use up to 35 small letters, digits and dashes for each, a letter first."
  }
}

variable "runs" {
  description = "The runs by name: the program on S3, arguments (the name of a file becomes its URL), role, whether it runs until cancelled, and what one takes of its schedule and workers."
  type = map(object({
    arguments = optional(list(string), [])
    program   = string
    role      = string
    # When a schedule starts it, as infra/modules/schedule says; null for never.
    schedule  = optional(string)
    streaming = optional(bool, false)
    # Cores and Spark's memory (EMR adds a tenth) of driver and executors, the disk of an executor (EMR's default is
    # 20), on which it keeps a batch; executors at the start and at most.
    workers = optional(object({
      driver            = optional(object({ cores = optional(number, 1), memory_gib = optional(number, 3) }), {})
      executor          = optional(object({ cores = optional(number, 1), disk_gib = optional(number), memory_gib = optional(number, 3) }), {})
      initial_executors = optional(number, 1)
      max_executors     = optional(number, 4)
    }), {})
  }))
  default = {}

  validation {
    condition     = alltrue([for run in values(var.runs) : run.schedule == null || !run.streaming])
    error_message = "The runs ${join(", ", [for name, run in var.runs : name if run.schedule != null && run.streaming])} have a schedule and run until they are cancelled; give a schedule to a run that ends."
  }
  validation {
    condition     = length([for name, run in var.runs : name if run.schedule != null && length("${var.prefix}-run-${name}-schedule") > 64]) == 0
    error_message = "Names of roles have up to 64 characters, and the schedules of the runs ${join(", ", [for name, run in var.runs : "${name} (${length("${var.prefix}-run-${name}-schedule") - 64} too many)" if run.schedule != null && length("${var.prefix}-run-${name}-schedule") > 64])} have roles called ${var.prefix}-run-RUN-schedule; shorten the names of their jobs or the prefix, ${var.prefix}, or take the schedules out."
  }
  validation {
    condition     = length(setsubtract(values(var.runs)[*].role, keys(var.roles))) == 0
    error_message = "There are runs with the roles ${join(", ", distinct(values(var.runs)[*].role))}; give each of them a policy in roles."
  }
  validation {
    condition = alltrue(flatten([
      for workers in values(var.runs)[*].workers : [
        for worker in [workers.driver, workers.executor] :
        try(worker.memory_gib * 1.1 <= { 1 = 8, 2 = 16, 4 = 30, 8 = 60, 16 = 120 }[worker.cores] && worker.memory_gib >= 1 && floor(worker.memory_gib) == worker.memory_gib, false)
      ]
    ]))
    error_message = "The workers are ${jsonencode({ for name, run in var.runs : name => run.workers })}; EMR has workers of 1, 2, 4, 8 and 16 cores, with at most 7, 14, 27, 54 and 109 whole GiB of memory for Spark."
  }
  validation {
    condition     = alltrue([for run in values(var.runs) : contains(range(20, 201), coalesce(run.workers.executor.disk_gib, 20))])
    error_message = "The disks of the executors are ${jsonencode({ for name, run in var.runs : name => run.workers.executor.disk_gib })}; EMR has disks of 20 to 200 whole GiB."
  }
  validation {
    condition     = alltrue([for workers in values(var.runs)[*].workers : workers.initial_executors >= 0 && workers.max_executors >= max(1, workers.initial_executors)])
    error_message = "The executors are ${jsonencode({ for name, run in var.runs : name => { initial = run.workers.initial_executors, max = run.workers.max_executors } })}; give each run at least one at most, and no more at the start."
  }
}
