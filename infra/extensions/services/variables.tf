variable "brokers_parameter" {
  description = "The name of the parameter in Parameter Store for the brokers, of which each consumer in an account and region needs one of its own."
  type        = string
  default     = "/msk/scram/brokers"

  validation {
    condition     = can(regex("^/[A-Za-z0-9_./-]+$", var.brokers_parameter))
    error_message = "brokers_parameter is ${var.brokers_parameter}; write a path like /msk/scram/brokers."
  }
}

variable "cluster_arn" {
  description = "The ECS cluster that the services run in; null for task definitions only."
  type        = string
  default     = null
}

variable "eks" {
  description = "An EKS cluster whose pods may run as the services: the issuer of its OIDC provider without https://, and the namespace of their service accounts."
  type        = object({ issuer = string, namespace = string })
  default     = null

  validation {
    condition     = var.eks == null ? true : can(regex("^[a-z0-9.-]+(/[A-Za-z0-9/_-]+)?$", var.eks.issuer))
    error_message = "eks.issuer is ${try(var.eks.issuer, "")}; write it without https://, like oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF."
  }
}

variable "platform" {
  description = "The platform, as the consumer's root puts it out."
  type = object({
    account_id           = string
    partition            = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    brokers              = object({ bootstrap_servers = string, logins = map(object({ read_password = string, secret_arn = string, security = optional(string, "scram") })), tls_servers = optional(string) })
    network = object({
      egress = map(object({
        port              = number
        to_port           = optional(number)
        cidr              = optional(string)
        prefix_list_id    = optional(string)
        security_group_id = optional(string)
      }))
      interface_endpoints = list(string)
      subnet_ids          = list(string)
      vpc_id              = string
    })
    retention  = object({ log_days = number })
    statements = object({ read_schemas = string })
  })

  validation {
    condition     = length(setsubtract(local.takers.endpoints, var.platform.network.interface_endpoints)) == 0
    error_message = "The VPC has the endpoints ${join(", ", sort(var.platform.network.interface_endpoints))}; ${local.takers.need} too; add them to network.interface_endpoints of the consumer's root."
  }
}

variable "services" {
  description = "The services by name: image, environment (LOG_LEVEL, TOPIC1, TOPIC2, GROUP, MSG_FREQ for examples/services), replicas, size and architecture."
  type = map(object({
    architecture = optional(string, "ARM64")
    cpu          = optional(number, 256)
    environment  = optional(map(string), {})
    image        = string
    memory_mib   = optional(number, 512)
    replicas     = optional(number, 1)
  }))

  validation {
    condition     = length(var.services) > 0 && length(setsubtract(keys(var.services), keys(var.platform.brokers.logins))) == 0
    error_message = "The services are ${join(", ", keys(var.services))}, and the contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}; in the producer's root, name each service in programs of this consumer."
  }
  validation {
    condition     = alltrue([for service in values(var.services) : can(regex("^${var.platform.account_id}\\.dkr\\.ecr\\.${var.platform.region}\\.[a-z.]+/[^:@]+", service.image))])
    error_message = "The images are ${join(", ", values(var.services)[*].image)}; take each from ECR of this account and region, like ${var.platform.account_id}.dkr.ecr.${var.platform.region}.amazonaws.com/NAME:TAG, since the endpoints of the VPC let no other through."
  }
  validation {
    condition     = alltrue([for service in values(var.services) : contains(["ARM64", "X86_64"], service.architecture)])
    error_message = "The architectures are ${join(", ", values(var.services)[*].architecture)}; choose ARM64 or X86_64, as the image was built."
  }
  validation {
    condition     = alltrue([for service in values(var.services) : length(setintersection(keys(service.environment), ["AWS_REGION", "KAFKA_BOOTSTRAP_SERVERS", "KAFKA_SECRET_ARN", "KAFKA_SECURITY"])) == 0])
    error_message = "The environment of the services has ${join(", ", distinct(flatten([for service in values(var.services) : keys(service.environment)])))}; leave out AWS_REGION, KAFKA_BOOTSTRAP_SERVERS, KAFKA_SECRET_ARN and KAFKA_SECURITY, which the module sets."
  }
}
