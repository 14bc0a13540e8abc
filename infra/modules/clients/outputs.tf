output "clients" {
  description = "Each client: the instance of its host, null without one, its policy and its role."
  value = {
    for name, client in module.client : name => {
      host       = try(module.host[name].instance_id, null)
      policy_arn = client.policy_arn
      role_name  = "${var.platform.prefix}-client-${name}"
    }
  }
}

output "security_group_ids" {
  description = "The security group of each client."
  value       = local.groups
}
