# A program that is not Penstock's: egress from its security group, and a policy for its role.
resource "aws_iam_policy" "this" {
  name        = "${var.prefix}-client-${var.name}"
  description = "What the client ${var.name} may do with the brokers and schemas of ${var.prefix}"
  policy      = var.policy_json

  lifecycle {
    precondition {
      condition     = length(var.policy_json) <= 6144
      error_message = "The policy of the client ${var.name} has ${length(var.policy_json)} characters, and a managed policy takes 6144; give it fewer topics, and the others to a second client."
    }
  }
}

resource "aws_iam_role_policy_attachment" "this" {
  count = var.role_name == null ? 0 : 1

  role       = var.role_name
  policy_arn = aws_iam_policy.this.arn
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = var.egress

  security_group_id            = var.security_group_id
  description                  = "${var.prefix}: ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  cidr_ipv4                    = each.value.cidr
  prefix_list_id               = each.value.prefix_list_id
  referenced_security_group_id = each.value.security_group_id

  tags = { Name = "${var.prefix}-client-${var.name}-${each.key}" }
}
