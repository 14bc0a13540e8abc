# Consumers of peered VPCs dial the brokers at their own addresses: their names, which are in public DNS, lead to them.
# A consumer asks for the connection, and it is accepted here once its id is known.
locals {
  tls_port = contains(var.ports, 9094) ? 9094 : null

  brokers = {
    for number in range(1, var.broker_count + 1) : tostring(number) => {
      host         = "b-${number}.${var.cluster.zone_name}"
      port         = 9096
      service_arn  = null
      service_id   = null
      service_name = null
      tls_port     = local.tls_port
      zone_ids     = var.zone_ids
    }
  }

  # The ids of route tables may be unknown until apply, their number is not.
  routes = merge([
    for name, consumer in var.consumers : {
      for index, table in var.route_table_ids : "${name}/${index}" => { cidr = consumer.cidr, name = name, route_table_id = table }
    }
  ]...)
}

resource "aws_vpc_peering_connection_accepter" "consumer" {
  for_each = var.consumers

  vpc_peering_connection_id = each.value.connection_id
  auto_accept               = true

  tags = { Name = "${var.prefix}-${each.key}" }

  lifecycle {
    postcondition {
      condition     = self.peer_owner_id == each.value.account_id && self.vpc_id == var.vpc_id
      error_message = "The peering connection ${each.value.connection_id} of ${each.key} was asked for by the account ${self.peer_owner_id} and leads to ${self.vpc_id}, expected ${each.value.account_id} and ${var.vpc_id}; nothing is routed to it: delete it, and give the id that the consumer's output peering has."
    }
  }
}

resource "aws_route" "consumer" {
  for_each = local.routes

  route_table_id            = each.value.route_table_id
  destination_cidr_block    = each.value.cidr
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.consumer[each.value.name].id
}

# By addresses: a group of another account can be named only while the connection is active.
resource "aws_vpc_security_group_ingress_rule" "consumer" {
  for_each = var.consumers

  security_group_id = var.cluster.security_group_id
  description       = "${local.tls_port == null ? "SCRAM logins" : "Logins"} of ${each.key}"
  cidr_ipv4         = each.value.cidr
  ip_protocol       = "tcp"
  from_port         = min(var.ports...)
  to_port           = max(var.ports...)
}
