output "cidr" {
  description = "The IPv4 address range of the VPC, for routes and rules of networks that are connected to it."
  value       = local.cidr

  precondition {
    condition     = local.cidr != null
    error_message = "The subnets of existing.subnet_ids have the ranges ${join(", ", local.peered_ranges)}, and none of the VPC's, ${join(", ", local.existing_ranges)}, holds them all; give subnets of one range of the VPC, since peering routes one."
  }
}

output "egress" {
  description = "The ways to AWS's services for clients' egress rules, by name: the interface endpoints, and those of gateway_endpoints."
  value = merge(
    { for name, id in local.endpoint_groups : name => { port = 443, security_group_id = id } },
    { for name in var.gateway_endpoints : name => { port = 443, prefix_list_id = try(aws_vpc_endpoint.gateway[name].prefix_list_id, var.existing.prefix_list_ids[name]) } },
  )
}

output "endpoint_policy" {
  description = "The policy of an interface endpoint without exceptions: the account's principals on the account's resources; null in an existing VPC, whose owner sets them."
  value       = local.make ? jsonencode({ Version = "2012-10-17", Statement = local.own_account }) : null
}

output "endpoint_security_group_ids" {
  description = "The security groups of the interface endpoints, for clients' egress rules, by rule name."
  value       = local.endpoint_groups
}

output "route_table_ids" {
  description = "The route tables of the subnets."
  value       = local.route_table_ids
}

output "subnet_ids" {
  description = "The private subnets by zone id, for brokers, load balancers and endpoints."
  value       = local.subnet_ids

  depends_on = [aws_route_table_association.private]

  precondition {
    condition     = length(distinct(values(aws_subnet.private)[*].cidr_block)) == length(aws_subnet.private)
    error_message = "zone_ids is ${join(", ", coalesce(var.zone_ids, []))}, and by their places two of its zones would have one range, as a zone keeps the range that it has; apply with the new zone at the end before you take another one out, or put it in the place of one that an earlier apply took out."
  }
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
