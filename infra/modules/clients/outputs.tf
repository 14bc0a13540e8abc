output "clients" {
  description = "Each client: brokers, the instance of its host, null without one, its policy and its role, how it logs in (security), its secret, and what its Kafka user may do."
  value = {
    for name, client in module.client : name => {
      bootstrap_servers = local.logins[name].security == "tls" ? var.platform.brokers.tls_servers : var.bootstrap_servers
      # Clients that share a user have groups of their own.
      group_prefix = "${local.logins[name].group_prefix}${contains(keys(var.platform.brokers.logins), name) ? "" : "${name}-"}"
      host         = try(module.host[name].instance_id, null)
      policy_arn   = client.policy_arn
      reads        = local.logins[name].topics
      role_name    = "${var.platform.prefix}-client-${name}"
      secret_arn   = local.logins[name].secret_arn
      security     = local.logins[name].security
      writes       = local.logins[name].writes
    }
  }
}

output "security_group_ids" {
  description = "The security group of each client, by its name for rules."
  value       = { for name, id in local.groups : contains(keys(local.hosts), name) ? "${name} (host)" : name => id }
}
