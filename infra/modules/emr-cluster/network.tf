# Security groups: one for all nodes, one for the endpoint through which EMR and the cluster meet.
locals {
  # EMR adds these rules itself where they are missing; here they are known, so that a destroy finds them.
  node_egress = merge(
    { for name, way in var.network.egress : name => way },
    { service-access = { port = 443, to_port = null, cidr = null, prefix_list_id = null, security_group_id = aws_security_group.access.id } },
  )
}

resource "aws_security_group" "node" {
  # checkov:skip=CKV2_AWS_5: the cluster has it, where checkov does not look
  name        = "${local.name}-node"
  description = "The nodes of ${local.name}"
  vpc_id      = var.network.vpc_id

  # EMR adds rules between the two groups, and a group that another one names cannot be deleted.
  revoke_rules_on_delete = true

  tags = merge(local.own_tag, { Name = "${local.name}-node" })
}

resource "aws_security_group" "access" {
  name        = "${local.name}-access"
  description = "The endpoint of EMR for ${local.name}"
  vpc_id      = var.network.vpc_id

  revoke_rules_on_delete = true

  tags = merge(local.own_tag, { Name = "${local.name}-access" })
}

resource "aws_vpc_security_group_ingress_rule" "node" {
  security_group_id            = aws_security_group.node.id
  description                  = "nodes"
  ip_protocol                  = "-1"
  referenced_security_group_id = aws_security_group.node.id

  tags = { Name = "${local.name}-nodes" }
}

resource "aws_vpc_security_group_egress_rule" "node" {
  for_each = merge(
    { for name, way in local.node_egress : name => merge(way, { protocol = "tcp" }) },
    { nodes = { port = null, to_port = null, cidr = null, prefix_list_id = null, security_group_id = aws_security_group.node.id, protocol = "-1" } },
  )

  security_group_id            = aws_security_group.node.id
  description                  = each.key
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.port
  to_port                      = each.value.to_port == null ? each.value.port : each.value.to_port
  cidr_ipv4                    = each.value.cidr
  prefix_list_id               = each.value.prefix_list_id
  referenced_security_group_id = each.value.security_group_id

  tags = { Name = "${local.name}-${each.key}" }
}

# From the nodes, which are all that call it: AWS's guide lets the whole VPC in. No egress rule: an endpoint only answers.
resource "aws_vpc_security_group_ingress_rule" "access" {
  security_group_id            = aws_security_group.access.id
  description                  = "nodes"
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
  referenced_security_group_id = aws_security_group.node.id

  tags = { Name = "${local.name}-access-nodes" }
}

# EMR makes one itself if the service role may, and a destroy would not find it: its group could not be deleted. The group of
# the other endpoints lets in an existing VPC, whose own clusters this private name leads here too. To one that the VPC has,
# a way of network.egress leads, and EMR needs no right to modify it.
resource "aws_vpc_endpoint" "service" {
  count = var.network.endpoint ? 1 : 0

  vpc_id              = var.network.vpc_id
  vpc_endpoint_type   = "Interface"
  service_name        = "aws.api.${var.region}.emr-service-cell01"
  subnet_ids          = [var.network.subnet_id]
  security_group_ids  = concat([aws_security_group.access.id], [for name, way in var.network.egress : way.security_group_id if name == "endpoints"])
  private_dns_enabled = true

  tags = merge(local.own_tag, { Name = "${local.name}-service" })
}
