# The bucket of the tables, their Glue database and the Athena work group that queries them.
locals {
  partition = data.aws_partition.this.partition

  database    = "${replace(var.prefix, "-", "_")}_lake"
  lake_name   = "${var.prefix}-lake-${var.account_id}-${var.region}"
  parked_name = "${var.prefix}-parked-${var.account_id}-${var.region}"
}

data "aws_partition" "this" {}

module "bucket" {
  source = "../private-bucket"

  name          = local.lake_name
  expiry        = { results = { days = var.keep_days.results, prefix = "athena-results/" } }
  force_destroy = var.retention.force_destroy
  kms_key_arn   = module.key.arn
  outlived_by   = [aws_glue_catalog_database.this.id]
  replaced_days = var.keep_days.replaced
  # A job that commits every ten seconds deletes thousands of files of metadata and of its checkpoint a day. Kept for a
  # month, they would be most of the bucket, and Spark would list checkpoints through a quarter of a million deletions.
  # The results of a query can be made again.
  replaced_days_below = merge(
    { "athena-results/" = 1 },
    { for prefix in ["cdc/", "checkpoints/", "sales/", "tables/"] : prefix => min(var.keep_days.replaced, var.keep_days.replaced_files) },
  )
}

resource "aws_glue_catalog_database" "this" {
  name         = local.database
  description  = "What ${var.prefix} read, as tables"
  location_uri = "s3://${local.lake_name}/tables/"
}

resource "aws_athena_workgroup" "this" {
  name          = "${var.prefix}-lake"
  description   = "Queries of what ${var.prefix} read, each up to a limit"
  force_destroy = var.retention.force_destroy

  configuration {
    bytes_scanned_cutoff_per_query = var.query_limit_bytes
    # Enforced for every client: the limit and the key hold for every query.
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
        kms_key_arn       = module.key.arn
      }
    }
  }
}

# ---------------------------------------------------------------------------------------------
# The key for all of them
# ---------------------------------------------------------------------------------------------

module "key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-lake"
  deletion_days = var.retention.key_deletion_days
  description   = "Lake, parked records and notices of ${var.prefix}"
  services = {
    # The topic is encrypted, so its publishers need the key too.
    LetTheBucketTellOfParkedRecords = {
      service = "s3.amazonaws.com"
      conditions = {
        ArnEquals    = { "aws:SourceArn" = module.parked_bucket.arn }
        StringEquals = { "aws:SourceAccount" = var.account_id }
      }
    }
  }
}
