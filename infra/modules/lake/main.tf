# Tables on S3, the database that names them and the work group that queries them.
locals {
  partition = data.aws_partition.this.partition

  database    = "${replace(var.prefix, "-", "_")}_lake"
  parked_name = "${var.prefix}-parked-${var.account_id}-${var.region}"
}

data "aws_partition" "this" {}

module "bucket" {
  source = "../private-bucket"

  name          = "${var.prefix}-lake-${var.account_id}-${var.region}"
  expiry        = { results = { days = var.keep_days.results, prefix = "athena-results/" } }
  force_destroy = var.retention.force_destroy
  kms_key_arn   = aws_kms_key.this.arn
  replaced_days = var.keep_days.replaced
}

resource "aws_glue_catalog_database" "this" {
  name         = local.database
  description  = "What ${var.prefix} read, as tables"
  location_uri = "s3://${module.bucket.name}/tables/"
}

resource "aws_athena_workgroup" "this" {
  name          = "${var.prefix}-lake"
  description   = "Queries of what ${var.prefix} read, each up to a limit"
  force_destroy = var.retention.force_destroy

  configuration {
    bytes_scanned_cutoff_per_query = var.query_limit_bytes
    # Whatever a client asks for: the limit and the key hold for every query.
    enforce_workgroup_configuration    = true
    publish_cloudwatch_metrics_enabled = true

    engine_version {
      selected_engine_version = "Athena engine version 3"
    }

    result_configuration {
      expected_bucket_owner = var.account_id
      output_location       = "s3://${module.bucket.name}/athena-results/"

      encryption_configuration {
        encryption_option = "SSE_KMS"
        kms_key_arn       = aws_kms_key.this.arn
      }
    }
  }
}

# ---------------------------------------------------------------------------------------------
# The key of all of it
# ---------------------------------------------------------------------------------------------

resource "aws_kms_key" "this" {
  description             = "Lake, parked records and notices of ${var.prefix}"
  deletion_window_in_days = var.retention.key_deletion_days
  enable_key_rotation     = true
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "LeaveItToTheAccountsPolicies"
        Effect    = "Allow"
        Principal = { AWS = "arn:${local.partition}:iam::${var.account_id}:root" }
        Action    = "kms:*"
        Resource  = "*"
      },
      {
        # The topic is encrypted, so whoever publishes needs the key as well.
        Sid       = "LetTheBucketTellOfParkedRecords"
        Effect    = "Allow"
        Principal = { Service = "s3.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = "*"
        Condition = {
          ArnEquals    = { "aws:SourceArn" = module.parked_bucket.arn }
          StringEquals = { "aws:SourceAccount" = var.account_id }
        }
      },
    ]
  })
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.prefix}-lake"
  target_key_id = aws_kms_key.this.key_id
}
