variable "bootstrap_servers" {
  description = "The brokers for logins by SCRAM, as host:port separated by commas."
  type        = string
}

variable "clients" {
  description = "The clients by name: a security group of their own, or a host, as infra/modules/client-host takes it."
  type = map(object({
    host              = optional(object({ image_parameter = optional(string), instance_type = optional(string), packages_bucket = optional(string), volume_gib = optional(number) }))
    security_group_id = optional(string)
  }))

  validation {
    condition     = alltrue([for client in values(var.clients) : (client.host == null) != (client.security_group_id == null)])
    error_message = "The clients ${join(", ", [for name, client in var.clients : name if(client.host == null) == (client.security_group_id == null)])} have both or neither of security_group_id and host; give each its security group, or host for an instance that is made with one."
  }
  validation {
    condition     = length(compact(values(var.clients)[*].security_group_id)) == length(distinct(compact(values(var.clients)[*].security_group_id)))
    error_message = "Clients share the security groups ${join(", ", [for id, names in { for name, client in var.clients : client.security_group_id => name... if client.security_group_id != null } : "${id} (${join(", ", names)})" if length(names) > 1])}; give each client one of its own, since its rules are made in it."
  }
  validation {
    condition     = alltrue([for name in keys(var.clients) : can(regex("^[a-z][a-z0-9-]{0,23}$", name)) && !can(regex("^(consumer(-.*)?|spark)$", name))])
    error_message = "The clients are ${join(", ", keys(var.clients))}; use up to 24 small letters, digits and dashes for each, a letter first; spark, consumer and consumer-NAME are taken, since rules are named after them."
  }
  validation {
    condition     = alltrue([for name in keys(var.clients) : contains(keys(var.platform.brokers.logins), name) || contains(keys(var.platform.brokers.logins), "clients")])
    error_message = "The clients are ${join(", ", keys(var.clients))}, and the contract has Kafka users for ${join(", ", keys(var.platform.brokers.logins))}; in the producer's root, name clients, or each client, in programs of this consumer."
  }
}

variable "platform" {
  description = "What the clients need of the consumer's root."
  type = object({
    account_id           = string
    permissions_boundary = optional(string)
    prefix               = string
    region               = string
    network = object({
      egress = map(object({
        port              = number
        to_port           = optional(number)
        cidr              = optional(string)
        prefix_list_id    = optional(string)
        security_group_id = optional(string)
      }))
      subnet_ids = list(string)
      vpc_id     = string
    })
    brokers    = object({ logins = map(object({ group_prefix = string, read_password = string, secret_arn = string, security = optional(string, "scram"), topics = list(string), writes = list(string) })), tls_servers = optional(string) })
    statements = object({ read_registry_secrets = string, read_schemas = string })
  })
}
