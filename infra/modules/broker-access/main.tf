# The network path to each broker: an endpoint for its endpoint service (privatelink), one connection that MSK makes for
# all brokers (multi_vpc), or routes to the brokers' VPC (peering.tf). The names are in dns.tf, the login in login.tf.
locals {
  peered = var.contract.exposure == "peering"

  # Known before apply, by broker number.
  exposed = var.contract.exposure == "privatelink" ? var.contract.brokers : {}

  # One broker for each zone of the cluster, which tells clients of the others. These brokers stay the same when others
  # are added, so an event source mapping that names them does not change. All would exceed the 4 KB of Lambda and SSM.
  _zone_count = length(values(var.contract.brokers)[0].zone_ids)
  _first      = [for id, broker in var.contract.brokers : broker if tonumber(id) <= local._zone_count]
  servers     = join(",", [for broker in local._first : "${broker.host}:${broker.port}"])
  tls_servers = join(",", [for broker in local._first : "${broker.host}:${broker.tls_port}" if broker.tls_port != null])

  # The subnets in a zone of the broker's load balancer: PrivateLink connects only within a zone.
  subnet_ids = {
    for id, broker in var.contract.brokers :
    id => [for zone_id, subnet_id in var.subnet_ids : subnet_id if contains(broker.zone_ids, zone_id)]
  }

  ports = flatten([for broker in values(var.contract.brokers) : [for port in [broker.port, broker.tls_port] : port if port != null]])
}

# Once nobody must accept, there is no accepter, and the provider rejects its endpoint, which stays so: a change makes new
# endpoints.
resource "terraform_data" "acceptance" {
  input = var.contract.acceptance_required
}

resource "aws_vpc_endpoint" "broker" {
  for_each = local.exposed

  vpc_id             = var.vpc_id
  vpc_endpoint_type  = "Interface"
  service_name       = each.value.service_name
  subnet_ids         = local.subnet_ids[each.key]
  security_group_ids = [aws_security_group.this[0].id]

  tags = { Name = "${var.prefix}-b-${each.key}" }

  lifecycle {
    replace_triggered_by = [terraform_data.acceptance]
  }
}

# Accepted in the producer account by this consumer's hand-over role.
resource "aws_vpc_endpoint_connection_accepter" "broker" {
  for_each = { for id, broker in local.exposed : id => broker if var.contract.acceptance_required }
  provider = aws.producer

  vpc_endpoint_service_id = each.value.service_id
  vpc_endpoint_id         = aws_vpc_endpoint.broker[each.key].id
}

resource "aws_msk_vpc_connection" "this" {
  count = var.contract.exposure == "multi_vpc" ? 1 : 0

  authentication     = "SASL_SCRAM"
  target_cluster_arn = var.contract.cluster.arn
  vpc_id             = var.vpc_id
  client_subnets     = distinct(flatten(values(local.subnet_ids)))
  security_groups    = [aws_security_group.this[0].id]
}

# No egress rule: an endpoint only answers.
resource "aws_security_group" "this" {
  count = local.peered ? 0 : 1

  name        = "${var.prefix}-brokers"
  description = "Endpoints of the brokers of ${var.contract.cluster.name}"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.prefix}-brokers" }
}

resource "aws_vpc_security_group_ingress_rule" "client" {
  for_each = local.peered ? {} : var.clients

  security_group_id            = aws_security_group.this[0].id
  description                  = "Kafka from ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = min(local.ports...)
  to_port                      = max(local.ports...)
  referenced_security_group_id = each.value
}
