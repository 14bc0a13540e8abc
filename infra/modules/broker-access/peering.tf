# The connection, which the producer accepts, and the routes of this VPC. Those of the brokers' VPC are the producer's
# (broker-exposure-peering).
resource "aws_vpc_peering_connection" "this" {
  count = local.peered ? 1 : 0

  vpc_id        = var.vpc_id
  peer_owner_id = var.contract.producer_account_id
  peer_vpc_id   = var.contract.peering.vpc_id

  tags = { Name = "${var.prefix}-brokers" }
}

resource "aws_route" "brokers" {
  for_each = local.peered ? { for index, table in var.route_table_ids : tostring(index) => table } : {}

  route_table_id            = each.value
  destination_cidr_block    = var.contract.peering.cidr
  vpc_peering_connection_id = aws_vpc_peering_connection.this[0].id
}
