# A customer-managed key: the account's IAM policies decide who uses it. The key policy adds only the
# AWS services that are named, which have no role that a policy could allow.
locals {
  account_statement = {
    Sid       = "LeaveItToTheAccountsPolicies"
    Effect    = "Allow"
    Principal = { AWS = "arn:${data.aws_partition.this.partition}:iam::${var.account_id}:root" }
    Action    = "kms:*"
    Resource  = "*"
  }
  service_statements = [
    for sid, use in var.services : merge(
      {
        Sid       = sid
        Effect    = "Allow"
        Principal = { Service = use.service }
        Action    = use.actions
        Resource  = "*"
      },
      length(use.conditions) > 0 ? { Condition = use.conditions } : {},
    )
  ]
}

data "aws_partition" "this" {}

resource "aws_kms_key" "this" {
  description             = var.description
  deletion_window_in_days = var.deletion_days
  enable_key_rotation     = true
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat([local.account_statement], local.service_statements)
  })
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.alias}"
  target_key_id = aws_kms_key.this.key_id
}
