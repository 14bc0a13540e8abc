# The story's account: a network, brokers, the place of a registry, and the extension cdc.
variable "account_id" {
  description = "The account."
  type        = string
}

variable "flatten" {
  description = "Whether the connector flattens its records, and snapshots the tables once more in this form."
  type        = bool
  default     = false
}

variable "plugin" {
  description = "The zip of the connector's plugin."
  type        = string
}

variable "postgresql" {
  description = "The major version of PostgreSQL, which is the one that is installed on this machine."
  type        = string
}

variable "prepared" {
  description = "Whether the database is prepared for the connector."
  type        = bool
  default     = false
}

variable "tables" {
  description = "The tables whose changes are captured."
  type        = set(string)
}

locals {
  prefix    = "films"
  region    = "eu-central-1"
  retention = { force_destroy = true, key_deletion_days = 7, log_days = 7, secret_recovery_days = 0 }
}

module "network" {
  source = "../../../infra/modules/network"

  prefix              = local.prefix
  account_id          = var.account_id
  region              = local.region
  gateway_endpoints   = ["s3"]
  interface_endpoints = ["secretsmanager"]
  zone_ids            = ["euc1-az1", "euc1-az2"]
}

module "broker_cluster" {
  source = "../../../infra/modules/broker-cluster"

  prefix     = local.prefix
  account_id = var.account_id
  region     = local.region
  cluster    = { broker_count = 2 }
  retention  = { key_deletion_days = 7, log_days = 7, secret_recovery_days = 0 }
  subnet_ids = module.network.subnet_ids
  vpc_id     = module.network.vpc_id
}

# Apicurio Registry stands behind it, as on ECS.
resource "aws_network_interface" "registry" {
  subnet_id       = values(module.network.subnet_ids)[0]
  security_groups = [aws_security_group.registry.id]
}

resource "aws_security_group" "registry" {
  name        = "registry"
  description = "Apicurio Registry"
  vpc_id      = module.network.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "registry" {
  security_group_id            = aws_security_group.registry.id
  description                  = "The connector"
  ip_protocol                  = "tcp"
  from_port                    = 8080
  to_port                      = 8080
  referenced_security_group_id = module.cdc.security_group_id
}

resource "aws_sns_topic" "alarms" {
  name = "alarms"
}

module "cdc" {
  source = "../../../infra/extensions/cdc"

  name     = "films"
  database = { name = "films", instance = { multi_az = false, deletion_protection = false, version = var.postgresql } }
  flatten  = var.flatten
  plugin   = var.plugin
  prepared = var.prepared
  platform = {
    account_id = var.account_id
    partition  = "aws"
    prefix     = local.prefix
    region     = local.region
    alarms     = { topic_arn = aws_sns_topic.alarms.arn }
    brokers = {
      bootstrap_servers = module.broker_cluster.bootstrap_servers.iam
      name              = module.broker_cluster.name
      security_group_id = module.broker_cluster.security_group_id
    }
    network = {
      endpoint_security_group_ids = module.network.endpoint_security_group_ids
      interface_endpoints         = ["secretsmanager"]
      subnet_ids                  = values(module.network.workload_subnet_ids)
      vpc_id                      = module.network.vpc_id
    }
    retention = local.retention
  }
  registry = { url = "http://apicurio.films.example:8080", security_group_id = aws_security_group.registry.id }
  settings = merge({ "decimal.handling.mode" = "string" }, var.flatten ? { "snapshot.mode" = "always" } : {})
  tables   = var.tables
  topics   = { replicas = 2 }
}

output "bootstrap_servers" {
  description = "The brokers, for clients with IAM."
  value       = module.broker_cluster.bootstrap_servers.iam
}

output "cluster_arn" {
  description = "The cluster."
  value       = module.broker_cluster.arn
}

output "cdc" {
  description = "What the extension puts out."
  value       = module.cdc
}

output "registry_interface" {
  description = "The registry's network interface."
  value       = aws_network_interface.registry.id
}
