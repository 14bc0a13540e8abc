resource "aws_vpc_endpoint_service" "broker" {
  for_each = local.broker_ids

  acceptance_required        = var.acceptance_required
  network_load_balancer_arns = [aws_lb.broker[each.key].arn]

  tags = { Name = "${var.prefix}-b-${each.key}" }
}

# The account, not one of its roles: the owner of an endpoint is checked again when it is accepted.
resource "aws_vpc_endpoint_service_allowed_principal" "consumer" {
  for_each = local.principals

  vpc_endpoint_service_id = aws_vpc_endpoint_service.broker[each.value.broker_id].id
  principal_arn           = "arn:${local.partition}:iam::${each.value.account_id}:root"
}
