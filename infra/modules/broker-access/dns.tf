# The cluster's own sub-domain: the brokers' certificates have these names, and a zone higher up would
# hide the API of MSK and every other cluster. With multi_vpc, MSK resolves the names itself; with
# peering, public DNS has them.
resource "aws_route53_zone" "this" {
  count = var.contract.exposure == "privatelink" ? 1 : 0

  name    = var.contract.cluster.zone_name
  comment = "Brokers of ${var.contract.cluster.name}"

  vpc {
    vpc_id = var.vpc_id
  }
}

resource "aws_route53_record" "broker" {
  for_each = local.exposed

  zone_id = aws_route53_zone.this[0].zone_id
  name    = each.value.host
  type    = "A"

  alias {
    name                   = aws_vpc_endpoint.broker[each.key].dns_entry[0].dns_name
    zone_id                = aws_vpc_endpoint.broker[each.key].dns_entry[0].hosted_zone_id
    evaluate_target_health = false
  }
}
