output "dynamodb_prefix_list_id" {
  description = "The prefix list of DynamoDB, for security group rules; null without its gateway endpoint."
  value       = try(aws_vpc_endpoint.gateway["dynamodb"].prefix_list_id, var.existing.prefix_list_ids["dynamodb"], null)
}

output "endpoint_policy" {
  description = "The policy of an interface endpoint without exceptions: the account's principals on the account's resources."
  value       = jsonencode({ Version = "2012-10-17", Statement = local.own_account })
}

output "endpoint_security_group_ids" {
  description = "The security groups of the interface endpoints, for clients' egress rules, by rule name."
  value       = merge({ endpoints = aws_security_group.endpoints.id }, local.existing_groups)
}

output "s3_prefix_list_id" {
  description = "The prefix list of S3, for security group rules; null without its gateway endpoint."
  value       = try(aws_vpc_endpoint.gateway["s3"].prefix_list_id, var.existing.prefix_list_ids["s3"], null)
}

output "subnet_ids" {
  description = "The private subnets by zone id, for brokers, load balancers and endpoints."
  value       = local.subnet_ids

  depends_on = [aws_route_table_association.private]
}

output "vpc_id" {
  description = "The VPC."
  value       = local.vpc_id

  depends_on = [aws_default_security_group.this]
}

output "workload_subnet_ids" {
  description = "The same subnets, available once the endpoints exist: for functions and jobs, which call AWS as soon as they run."
  value       = local.subnet_ids

  depends_on = [
    aws_route_table_association.private,
    aws_vpc_endpoint.gateway,
    aws_vpc_endpoint.interface,
  ]
}
