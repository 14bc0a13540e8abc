# A bucket with this project's defaults: encrypted with a customer-managed key, versioned with old
# versions kept for a while, closed to the public and to plain HTTP.
locals {
  arn = "arn:${data.aws_partition.this.partition}:s3:::${var.name}"
}

data "aws_partition" "this" {}

resource "aws_s3_bucket" "this" {
  # checkov:skip=CKV_AWS_18: reads and writes are in CloudTrail's data events where an account wants them; access logs need a bucket that is less private
  # checkov:skip=CKV_AWS_144: what is kept here can be made again from Kafka or by hand; a copy in another region is the account's decision
  # checkov:skip=CKV2_AWS_62: who wants to hear of new objects says so beside the bucket
  bucket        = var.name
  force_destroy = var.force_destroy

  # A destroy stops at a bucket that is not empty: its key must not wait for deletion by then.
  depends_on = [var.kms_key_arn, var.outlived_by]
}

resource "aws_s3_bucket_ownership_controls" "this" {
  bucket = aws_s3_bucket.this.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  bucket = aws_s3_bucket.this.id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "this" {
  bucket = aws_s3_bucket.this.id

  rule {
    # One request to KMS for many objects; the encryption context is then the bucket, not the object.
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      kms_master_key_id = var.kms_key_arn
      sse_algorithm     = "aws:kms"
    }
  }
}

resource "aws_s3_bucket_versioning" "this" {
  bucket = aws_s3_bucket.this.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "this" {
  bucket = aws_s3_bucket.this.id

  rule {
    id     = "forget-what-was-replaced"
    status = "Enabled"

    abort_incomplete_multipart_upload {
      days_after_initiation = 7
    }

    expiration {
      expired_object_delete_marker = true
    }

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = var.replaced_days
    }
  }

  # Of two rules for an object, the shorter time holds.
  dynamic "rule" {
    for_each = var.replaced_days_below

    content {
      id     = "forget-what-was-replaced-below-${rule.key}"
      status = "Enabled"

      filter {
        prefix = rule.key
      }

      noncurrent_version_expiration {
        noncurrent_days = rule.value
      }
    }
  }

  dynamic "rule" {
    for_each = var.expiry

    content {
      id     = "expire-${rule.key}"
      status = "Enabled"

      expiration {
        days = rule.value.days
      }

      filter {
        prefix = rule.value.prefix == "" ? null : rule.value.prefix
      }
    }
  }

  # Rules for noncurrent versions need a versioned bucket.
  depends_on = [aws_s3_bucket_versioning.this]
}

resource "aws_s3_bucket_policy" "this" {
  bucket = aws_s3_bucket.this.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OverTlsOnly"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [local.arn, "${local.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  # S3 rejects two concurrent changes of a bucket's access as a conflict.
  depends_on = [aws_s3_bucket_public_access_block.this]
}
