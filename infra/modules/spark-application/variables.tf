variable "account_id" {
  description = "The account of the application."
  type        = string
}

variable "application" {
  description = "The application: its release, its processors, the most that all its workers may have together, workers that wait for jobs (by Driver and Executor; none unless given), and the minutes without a job after which it stops."
  type = object({
    architecture = optional(string, "ARM64")
    idle_minutes = optional(number, 15)
    initial = optional(map(object({
      workers = number
      cpu     = optional(string, "2 vCPU")
      memory  = optional(string, "8 GB")
    })), {})
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
    condition     = length(setsubtract(keys(var.application.initial), ["Driver", "Executor"])) == 0
    error_message = "The initial workers are ${join(", ", keys(var.application.initial))}; name them Driver and Executor."
  }
  validation {
    condition = alltrue([
      for size in concat(values(var.application.initial), [var.application.maximum]) :
      can(regex("^[0-9]+ vCPU$", size.cpu)) && can(regex("^[0-9]+ GB$", size.memory))
    ])
    error_message = "The sizes are ${jsonencode(concat(values(var.application.initial), [var.application.maximum]))}; write them as 4 vCPU and 16 GB."
  }
  validation {
    condition     = contains(local.fitting_releases, var.application.release_label)
    error_message = "release_label is ${var.application.release_label}, ${try("with Spark ${local.releases.emr[var.application.release_label].spark} and Scala ${local.releases.emr[var.application.release_label].scala}", "which infra/modules/releases.json does not know")}; the jars need Spark ${local.releases.jars.spark} and Scala ${local.releases.jars.scala}: choose ${join(", ", local.fitting_releases)}."
  }
}

variable "artifacts" {
  description = "The artifacts of the jobs by name (the package's zip, programs, jars, and archives of Python packages by path, jars of EMR's image by path there, other files by content), and the Spark settings of all runs."
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
  description = "Parameters by execution role and name, which are written to Parameter Store as /PREFIX/ROLE/NAME and which the role may read; no secrets."
  type        = map(map(string))
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.parameters), keys(var.roles))) == 0
    error_message = "There are parameters for ${join(", ", keys(var.parameters))}; name roles, which are ${join(", ", keys(var.roles))}."
  }
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
  description = "The runs by name: program, arguments (a file's name becomes its S3 URL), execution role, whether it runs until cancelled, and its workers: vCPU and Spark's memory of driver and executors (EMR adds a tenth), executors at the start and at most; the times at which a schedule starts it (as in infra/modules/schedule), null for none."
  type = map(object({
    arguments = optional(list(string), [])
    program   = string
    role      = string
    schedule  = optional(string)
    streaming = optional(bool, false)
    workers = optional(object({
      driver            = optional(object({ cores = optional(number, 1), memory_gib = optional(number, 3) }), {})
      executor          = optional(object({ cores = optional(number, 1), memory_gib = optional(number, 3) }), {})
      initial_executors = optional(number, 1)
      max_executors     = optional(number, 4)
    }), {})
  }))
  default = {}

  validation {
    condition     = length(setsubtract(values(var.runs)[*].program, keys(var.artifacts.programs))) == 0
    error_message = "There are runs of the programs ${join(", ", distinct(values(var.runs)[*].program))}; give each of them a file in artifacts.programs."
  }
  validation {
    condition     = alltrue([for run in values(var.runs) : run.schedule == null || !run.streaming])
    error_message = "The runs ${join(", ", [for name, run in var.runs : name if run.schedule != null && run.streaming])} have a schedule and run until they are cancelled; give a schedule to a run that ends."
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
    condition     = alltrue([for workers in values(var.runs)[*].workers : workers.initial_executors >= 0 && workers.max_executors >= max(1, workers.initial_executors)])
    error_message = "The executors are ${jsonencode({ for name, run in var.runs : name => { initial = run.workers.initial_executors, max = run.workers.max_executors } })}; give each run at least one at most, and no more at the start."
  }
}
