# Events that the producer had to refuse, whole: it can put them here and can read nothing back.
locals {
  partition = data.aws_partition.this.partition
  keys_arn  = "arn:${local.partition}:kms:${var.region}:${var.account_id}:key/*"
}

data "aws_partition" "this" {}

module "bucket" {
  source = "../private-bucket"

  name          = "${var.prefix}-rejected-${var.account_id}-${var.region}"
  expiry        = { rejected = { days = var.keep_days } }
  force_destroy = var.retention.force_destroy
  kms_key_arn   = aws_kms_key.this.arn
}

resource "aws_kms_key" "this" {
  description             = "Events that ${var.prefix} rejected"
  deletion_window_in_days = var.retention.key_deletion_days
  enable_key_rotation     = true
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "LeaveItToTheAccountsPolicies"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${var.account_id}:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.prefix}-rejected"
  target_key_id = aws_kms_key.this.key_id
}
