output "function_name" {
  description = "The name of the access function."
  value       = module.function.name
}

output "security_group_id" {
  description = "The function's security group, which the brokers admit on port 9098."
  value       = module.function.security_group_id
}
