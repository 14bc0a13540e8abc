# What consumers write: a row for each reading, and one for each record that could not become one.
locals {
  arn_start = "arn:${data.aws_partition.this.partition}:dynamodb:${var.region}:${var.account_id}:table"
  due_index = "due"
}

data "aws_partition" "this" {}

# Sorted by time in each device, and a record that comes again writes the same row.
resource "aws_dynamodb_table" "readings" {
  name                        = "${var.prefix}-readings"
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = var.retention.deletion_protection
  hash_key                    = "deviceId"
  range_key                   = "readingId"

  attribute {
    name = "deviceId"
    type = "S"
  }

  attribute {
    name = "readingId"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.this.arn
  }

  ttl {
    attribute_name = var.ttl_attributes.readings
    enabled        = true
  }
}

resource "aws_dynamodb_table" "errors" {
  name                        = "${var.prefix}-errors"
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

  # Only rows that wait have a nextAttemptAt (in seconds, as TTL counts), so only they are in here,
  # and only by their keys: a raw value may be as big as a row can be.
  global_secondary_index {
    name            = local.due_index
    hash_key        = "stage"
    range_key       = "nextAttemptAt"
    projection_type = "KEYS_ONLY"
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.this.arn
  }

  ttl {
    attribute_name = var.ttl_attributes.errors
    enabled        = true
  }
}

resource "aws_kms_key" "this" {
  description             = "The tables of ${var.prefix}"
  deletion_window_in_days = var.retention.key_deletion_days
  enable_key_rotation     = true
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "LeaveItToTheAccountsPolicies"
      Effect    = "Allow"
      Principal = { AWS = "arn:${data.aws_partition.this.partition}:iam::${var.account_id}:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.prefix}-tables"
  target_key_id = aws_kms_key.this.key_id
}
