output "brokers_parameter" {
  description = "The parameter in Parameter Store that holds the brokers."
  value       = aws_ssm_parameter.brokers.name
}

output "environment" {
  description = "The variables of each service, brokers and the ARN of its secret included, for the pods of EKS."
  value       = local.environments
}

output "role_arns" {
  description = "The role of each service; in EKS it is the annotation eks.amazonaws.com/role-arn of its service account."
  value       = { for name, role in aws_iam_role.task : name => role.arn }
}

output "security_group_ids" {
  description = "The security group of each service, which brokers and endpoints admit; in EKS a SecurityGroupPolicy gives it to the pods, with the cluster's security group, without which they resolve no name."
  value       = { for name, group in aws_security_group.this : name => group.id }
}
