# Rejected events, whole. The producer can put them here and cannot read them.
locals {
  keys_arn = "arn:${data.aws_partition.this.partition}:kms:${var.region}:${var.account_id}:key/*"
}

data "aws_partition" "this" {}

module "bucket" {
  source = "../private-bucket"

  name          = "${var.prefix}-rejected-${var.account_id}-${var.region}"
  expiry        = var.keep_days == null ? {} : { rejected = { days = var.keep_days } }
  force_destroy = var.retention.force_destroy
  kms_key_arn   = module.key.arn
}

module "key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-rejected"
  deletion_days = var.retention.key_deletion_days
  description   = "Events that ${var.prefix} rejected"
}
