output "dynamodb_prefix_list_id" {
  description = "The addresses of DynamoDB, for rules of security groups; null without its gateway."
  value       = try(aws_vpc_endpoint.gateway["dynamodb"].prefix_list_id, var.existing.prefix_list_ids["dynamodb"], null)
}

output "endpoint_security_group_ids" {
  description = "The security groups of the interface endpoints, for clients to be let out to, by a name for the rule."
  value       = merge({ endpoints = aws_security_group.endpoints.id }, local.existing_groups)
}

output "s3_prefix_list_id" {
  description = "The addresses of S3, for rules of security groups; null without its gateway."
  value       = try(aws_vpc_endpoint.gateway["s3"].prefix_list_id, var.existing.prefix_list_ids["s3"], null)
}

output "subnet_ids" {
  description = "The private subnets by zone id, for brokers, load balancers and endpoints, which call no endpoint themselves."
  value       = local.subnet_ids

  depends_on = [aws_route_table_association.private]
}

output "vpc_id" {
  description = "The VPC."
  value       = local.vpc_id

  depends_on = [aws_default_security_group.this]
}

output "workload_subnet_ids" {
  description = "The same subnets once the endpoints stand, for functions and jobs, which call AWS as soon as they run."
  value       = local.subnet_ids

  depends_on = [
    aws_route_table_association.private,
    aws_vpc_endpoint.gateway,
    aws_vpc_endpoint.interface,
  ]
}
