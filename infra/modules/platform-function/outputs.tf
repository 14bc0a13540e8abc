output "arn" {
  description = "The function's ARN."
  value       = module.function.arn

  # Callers find the function able to work.
  depends_on = [aws_s3_object.settings, aws_vpc_security_group_ingress_rule.this]
}

output "name" {
  description = "The function's name."
  value       = module.function.name

  # Callers find the function able to work.
  depends_on = [aws_s3_object.settings, aws_vpc_security_group_ingress_rule.this]
}

output "role_arn" {
  description = "The ARN of the function's role."
  value       = "arn:${var.platform.partition}:iam::${var.platform.account_id}:role/${module.function.role_name}"
}
