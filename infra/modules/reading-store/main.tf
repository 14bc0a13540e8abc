# The tables of a consumer: a row for each reading, and one for each dead letter.
locals {
  arn_start = "arn:${data.aws_partition.this.partition}:dynamodb:${var.region}:${var.account_id}:table"
  due_index = "due"
}

data "aws_partition" "this" {}

# Rows that were written in another way would never be updated again, without an error. So another way replaces the
# table, which deletion protection refuses. A reference to an attribute would replace it when this is made beside it.
resource "terraform_data" "fixed" {
  for_each = var.tables

  triggers_replace = each.value.fixed
}

# By default sorted by time within a device; a record that is delivered again writes the same row.
resource "aws_dynamodb_table" "readings" {
  for_each = var.tables

  name                        = "${var.prefix}-${each.key}"
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = var.retention.deletion_protection
  hash_key                    = each.value.hash_key
  range_key                   = each.value.range_key

  dynamic "attribute" {
    for_each = compact([each.value.hash_key, each.value.range_key])

    content {
      name = attribute.value
      type = "S"
    }
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = module.key.arn
  }

  ttl {
    # An event's fields are in the same row, under their own names.
    attribute_name = coalesce(each.value.ttl_attribute, "_expiresAt")
    enabled        = true
  }

  lifecycle {
    replace_triggered_by = [terraform_data.fixed[each.key]]
  }
}

resource "aws_dynamodb_table" "errors" {
  for_each = var.errors

  name                        = "${var.prefix}-${each.key}"
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = var.retention.deletion_protection
  hash_key                    = "id"

  attribute {
    name = "id"
    type = "S"
  }

  attribute {
    name = "nextAttemptAt"
    type = "N"
  }

  attribute {
    name = "stage"
    type = "S"
  }

  # Only rows that are neither done nor parked have a nextAttemptAt (in seconds, like TTL), so only they
  # are in the index, with the attributes they are selected by: a raw value may be as large as a row.
  global_secondary_index {
    name               = local.due_index
    hash_key           = "stage"
    range_key          = "nextAttemptAt"
    projection_type    = "INCLUDE"
    non_key_attributes = ["attempts", "firstSeen", "kafkaTimestamp", "reason", "schemaId"]
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = module.key.arn
  }

  ttl {
    # jobs/replay.py sets it when a row is done or parked.
    attribute_name = "expiresAt"
    enabled        = true
  }
}

module "key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-${var.key_alias}"
  deletion_days = var.retention.key_deletion_days
  description   = "The tables of ${var.prefix}"
}
