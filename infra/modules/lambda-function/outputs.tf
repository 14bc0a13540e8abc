output "arn" {
  description = "The function's ARN."
  value       = aws_lambda_function.this.arn

  # Callers find the function able to work.
  depends_on = [aws_iam_role_policy.work, aws_vpc_security_group_egress_rule.this, module.long_policy]
}

output "dead_letter_queue" {
  description = "The dead-letter queue: name and ARN, null without one."
  value = {
    arn  = one(aws_sqs_queue.dead_letters[*].arn)
    name = one(aws_sqs_queue.dead_letters[*].name)
  }
}

output "invoked_arn" {
  description = "The ARN to invoke: the function's, or that of the alias `live` with SnapStart."
  value       = try(aws_lambda_alias.live[0].arn, aws_lambda_function.this.arn)

  # Callers find the function able to work.
  depends_on = [aws_iam_role_policy.work, aws_vpc_security_group_egress_rule.this, module.long_policy]
}

output "name" {
  description = "The function's name."
  value       = aws_lambda_function.this.function_name

  # Callers find the function able to work.
  depends_on = [aws_iam_role_policy.work, aws_vpc_security_group_egress_rule.this, module.long_policy]
}

output "role_name" {
  description = "The name of the function's role, to attach policies to."
  value       = aws_iam_role.this.name
}

output "security_group_id" {
  description = "The function's security group."
  value       = aws_security_group.this.id
}
