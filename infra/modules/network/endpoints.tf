# Endpoints that an existing VPC has are not created again: AWS rejects a second route or private name for a service.
locals {
  existing_endpoints = try(var.existing.interface_endpoints, {})
  # One rule per security group, for any number of endpoints in it.
  _existing_groups = {
    for id, names in { for name, id in local.existing_endpoints : id => name... } : join("-", names) => id
  }
  endpoint_groups = merge({ endpoints = aws_security_group.endpoints.id }, local._existing_groups)
}

resource "aws_vpc_endpoint" "gateway" {
  for_each = setsubtract(var.gateway_endpoints, try(keys(var.existing.prefix_list_ids), []))

  vpc_id            = local.vpc_id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.${var.region}.${each.value}"
  policy            = local.endpoint_policies[each.value]
  route_table_ids   = local.route_table_ids

  tags = { Name = "${var.prefix}-${each.value}" }
}

resource "aws_vpc_endpoint" "interface" {
  for_each = setsubtract(var.interface_endpoints, keys(local.existing_endpoints))

  vpc_id              = local.vpc_id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${var.region}.${each.value}"
  policy              = local.endpoint_policies[each.value]
  subnet_ids          = values(local.subnet_ids)
  security_group_ids  = [aws_security_group.endpoints.id]
  private_dns_enabled = true

  tags = { Name = "${var.prefix}-${each.value}" }
}

# No egress rule: an endpoint only answers.
resource "aws_security_group" "endpoints" {
  name        = "${var.prefix}-endpoints"
  description = "Endpoints of AWS services"
  vpc_id      = local.vpc_id

  tags = { Name = "${var.prefix}-endpoints" }
}

resource "aws_vpc_security_group_ingress_rule" "endpoints" {
  for_each = var.clients

  security_group_id            = aws_security_group.endpoints.id
  description                  = "HTTPS from ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
  referenced_security_group_id = each.value
}

# The private names of the endpoints lead the other workloads of an existing VPC here too.
resource "aws_vpc_security_group_ingress_rule" "vpc" {
  for_each = toset(local.existing_ranges)

  security_group_id = aws_security_group.endpoints.id
  description       = "HTTPS from the VPC"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
  cidr_ipv4         = each.value
}
