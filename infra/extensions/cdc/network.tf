# The worker's way to the brokers, the database, the registry and Secrets Manager.
locals {
  _url  = regex("^(?P<scheme>https?)://(?:[^:/]+)(?::(?P<port>[0-9]+))?", coalesce(var.registry.url, "https://none"))
  _port = tonumber(coalesce(local._url.port, local._url.scheme == "https" ? "443" : "80"))
  egress = merge(
    {
      brokers  = { port = 9098, cidr = null, security_group_id = var.platform.brokers.security_group_id }
      database = { port = local.database.port, cidr = null, security_group_id = local.database.security_group_id }
    },
    local.by_glue ? {} : {
      registry = { port = local._port, cidr = var.registry.cidr, security_group_id = var.registry.security_group_id }
    },
    { for name, id in var.platform.network.endpoint_security_group_ids : name => { port = 443, cidr = null, security_group_id = id } },
  )
}

resource "aws_security_group" "this" {
  name        = local.name
  description = "The worker of the connector ${local.name}"
  vpc_id      = var.platform.network.vpc_id

  tags = { Name = local.name }
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = local.egress

  security_group_id            = aws_security_group.this.id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
  cidr_ipv4                    = each.value.cidr
  referenced_security_group_id = each.value.security_group_id

  tags = { Name = "${local.name}-${each.key}" }
}

resource "aws_vpc_security_group_ingress_rule" "brokers" {
  security_group_id            = var.platform.brokers.security_group_id
  description                  = "The connector ${local.name}"
  ip_protocol                  = "tcp"
  from_port                    = 9098
  to_port                      = 9098
  referenced_security_group_id = aws_security_group.this.id

  tags = { Name = local.name }
}

resource "aws_vpc_security_group_ingress_rule" "endpoints" {
  for_each = var.platform.network.endpoint_security_group_ids

  security_group_id            = each.value
  description                  = "The connector ${local.name}"
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
  referenced_security_group_id = aws_security_group.this.id

  tags = { Name = local.name }
}

resource "aws_vpc_security_group_ingress_rule" "database" {
  security_group_id            = local.database.security_group_id
  description                  = "The connector ${local.name}"
  ip_protocol                  = "tcp"
  from_port                    = local.database.port
  to_port                      = local.database.port
  referenced_security_group_id = aws_security_group.this.id

  tags = { Name = local.name }
}

resource "aws_vpc_security_group_ingress_rule" "admins" {
  for_each = var.database.admins

  security_group_id            = local.database.security_group_id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = local.database.port
  to_port                      = local.database.port
  referenced_security_group_id = each.value

  tags = { Name = "${local.name}-${each.key}" }
}

# A database of another account, whose owner has an endpoint service in front of it and accepts this endpoint.
resource "aws_vpc_endpoint" "database" {
  for_each = local.services

  vpc_id             = var.platform.network.vpc_id
  vpc_endpoint_type  = "Interface"
  service_name       = each.value
  subnet_ids         = var.platform.network.subnet_ids
  security_group_ids = [aws_security_group.database[each.key].id]

  tags = { Name = "${local.name}-database" }
}
