output "instance_id" {
  description = "The instance, for `aws ssm start-session --target`."
  value       = aws_instance.this.id
}

output "role_name" {
  description = "The name of the instance's role, to attach policies to."
  value       = aws_iam_role.this.name
}

output "security_group_id" {
  description = "The instance's security group, for egress rules and for those that let it in."
  value       = aws_security_group.this.id
}
