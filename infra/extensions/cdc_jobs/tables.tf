# Tables of DynamoDB: the dead letters of each job with its lease, and those that are equal to the database's.
locals {
  current_tables = merge([
    for name, job in var.jobs : { for topic, key in job.dynamodb : local.names[name][topic] => key }
  ]...)
}

module "key" {
  source = "../../modules/customer-key"

  account_id    = var.platform.account_id
  alias         = "${var.platform.prefix}-cdc-jobs"
  deletion_days = var.platform.retention.key_deletion_days
  description   = "The tables of change data capture of ${var.platform.prefix}"
}

resource "aws_dynamodb_table" "current" {
  for_each = local.current_tables

  name                        = "${var.platform.prefix}-${each.key}"
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = var.platform.retention.deletion_protection
  hash_key                    = each.value

  attribute {
    name = each.value
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = module.key.arn
  }

  # Of a deleted row, which keeps its key and place until then.
  ttl {
    attribute_name = "_expiresAt"
    enabled        = true
  }
}

resource "aws_dynamodb_table" "errors" {
  for_each = var.jobs

  name                        = "${var.platform.prefix}-${each.key}-errors"
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = var.platform.retention.deletion_protection
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

  # As infra/modules/reading-store has it, for the commands of dead letters.
  global_secondary_index {
    name               = "due"
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
    attribute_name = "expiresAt"
    enabled        = true
  }
}
