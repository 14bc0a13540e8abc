variable "account_id" {
  description = "The account that the application is in."
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
      cpu    = optional(string, "32 vCPU")
      memory = optional(string, "128 GB")
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
    condition     = startswith(var.application.release_label, "emr-")
    error_message = "The release_label is ${var.application.release_label}; give a label of EMR, such as emr-spark-8.1.0."
  }
}

variable "artifacts" {
  description = "What is uploaded for the jobs, by name: the zip of the package, job files and jars by path, other files by content; and how they are submitted: Spark settings for all, and by run the job, its arguments (where one is the name of a file, its place on S3) and whether it never ends."
  type = object({
    configuration = optional(map(string), {})
    files         = optional(map(string), {})
    jars          = optional(map(string), {})
    jobs          = optional(map(string), {})
    pyfiles       = string
    runs = optional(map(object({
      arguments = optional(list(string), [])
      job       = string
      streaming = optional(bool, false)
    })), {})
  })

  validation {
    condition = alltrue([
      for path in concat([var.artifacts.pyfiles], values(var.artifacts.jobs), values(var.artifacts.jars)) : fileexists(path)
    ])
    error_message = "There is no file ${join(", ", [for path in concat([var.artifacts.pyfiles], values(var.artifacts.jobs), values(var.artifacts.jars)) : path if !fileexists(path)])}; make the zip with `make build`, and the jars with `make install`."
  }
  validation {
    condition = alltrue([
      for name in concat(keys(var.artifacts.files), keys(var.artifacts.jars), keys(var.artifacts.jobs)) :
      can(regex("^[A-Za-z0-9][A-Za-z0-9._-]*$", name))
    ])
    error_message = "The artifacts are ${join(", ", concat(keys(var.artifacts.files), keys(var.artifacts.jars), keys(var.artifacts.jobs)))}; name each with letters, digits, dots, dashes and underscores."
  }
  validation {
    condition     = length(setsubtract([for run in values(var.artifacts.runs) : run.job], keys(var.artifacts.jobs))) == 0
    error_message = "There are runs of the jobs ${join(", ", distinct([for run in values(var.artifacts.runs) : run.job]))}; give each of them a file in artifacts.jobs."
  }
}

variable "network" {
  description = "Where the jobs run, and by name what they may reach there: a TCP port (or the ports up to to_port) of a security group or a prefix list."
  type = object({
    vpc_id     = string
    subnet_ids = list(string)
    egress = map(object({
      port              = number
      to_port           = optional(number)
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
      for way in values(var.network.egress) : (way.prefix_list_id == null) != (way.security_group_id == null)
    ])
    error_message = "The egress ${join(", ", keys(var.network.egress))} leads to both or neither of security_group_id and prefix_list_id; give each way one of them."
  }
}

variable "policy_json" {
  description = "What the jobs may do, besides reading their artifacts and writing their log."
  type        = string

  validation {
    condition     = can(jsondecode(var.policy_json).Statement)
    error_message = "policy_json is no policy; give a JSON document with a Statement."
  }
}

variable "prefix" {
  description = "What the names begin with."
  type        = string
}

variable "region" {
  description = "The region that the application is in."
  type        = string
}

variable "retention" {
  description = "What may be lost: the bucket with its artifacts (force_destroy), the days until a deleted key is gone, and the days that the log is kept."
  type = object({
    force_destroy     = optional(bool, false)
    key_deletion_days = optional(number, 30)
    log_days          = optional(number, 365)
  })
  default = {}
}
