# Rejected events, whole. The producer can put them here and cannot read them.
locals {
  # Lambda writes events of asynchronous invocations that failed below this path.
  failures_prefix = "aws/lambda/"

  keys_arn = "arn:${data.aws_partition.this.partition}:kms:${var.region}:${var.account_id}:key/*"
}

data "aws_partition" "this" {}

module "bucket" {
  source = "../private-bucket"

  name = "${var.prefix}-rejected-${var.account_id}-${var.region}"
  # Failed events as long as the queue of a function has those that it takes.
  expiry        = merge({ failures = { days = 14, prefix = local.failures_prefix } }, var.keep_days == null ? {} : { rejected = { days = var.keep_days } })
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
