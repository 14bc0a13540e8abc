# Other programs in the VPC: the policy and the egress rules of each, and on request a host to run it on.
locals {
  hosts = { for name, client in var.clients : name => client.host if client.host != null }
  # Rules for a host have names of their own: a group that takes its place gets others, and the host's are deleted before
  # its group, which EC2 would keep as long as a rule names it.
  groups = { for name, client in var.clients : name => client.host == null ? client.security_group_id : module.host[name].security_group_id }
  # That of the client, or that of all clients.
  logins = { for name in keys(var.clients) : name => lookup(var.platform.brokers.logins, name, lookup(var.platform.brokers.logins, "clients", null)) }
  policies = {
    for name, login in local.logins : name => jsonencode({
      Version = "2012-10-17"
      Statement = flatten([
        for statements in [var.platform.statements["read_schemas"], var.platform.statements["read_registry_secrets"], login.read_password] : jsondecode(statements)
      ])
    })
  }
}

module "client" {
  source   = "../kafka-client"
  for_each = var.clients

  prefix = var.platform.prefix
  # Rows and tables are not theirs; a host installs its packages from S3.
  egress            = { for name, way in var.platform.network.egress : name => way if name != "dynamodb" && (name != "s3" || contains(keys(local.hosts), each.key)) }
  name              = each.key
  policy_json       = local.policies[each.key]
  role_name         = try(module.host[each.key].role_name, null)
  security_group_id = local.groups[each.key]
}

module "host" {
  source   = "../client-host"
  for_each = local.hosts

  account_id = var.platform.account_id
  region     = var.platform.region
  host       = each.value
  name       = "${var.platform.prefix}-client-${each.key}"
  network    = { vpc_id = var.platform.network.vpc_id, subnet_ids = var.platform.network.subnet_ids }

  permissions_boundary = var.platform.permissions_boundary
}
