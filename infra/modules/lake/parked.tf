# Records that were given up, and the topic that says so. The consumer function's mapping puts whole
# batches below aws/lambda/; the jobs put single records elsewhere, and say so themselves.
locals {
  batches_prefix = "aws/lambda/"
}

module "parked_bucket" {
  source = "../private-bucket"

  name          = local.parked_name
  expiry        = { parked = { days = var.keep_days.parked } }
  force_destroy = var.retention.force_destroy
  kms_key_arn   = module.key.arn
  replaced_days = var.keep_days.replaced
}

resource "aws_s3_bucket_notification" "parked" {
  bucket = module.parked_bucket.name

  topic {
    id            = "batches-of-the-mapping"
    events        = ["s3:ObjectCreated:*"]
    filter_prefix = local.batches_prefix
    # S3 publishes a test message when it is told: by then the topic lets it in.
    topic_arn = module.parked_topic.arn
  }
}

module "parked_topic" {
  source = "../notice-topic"

  name        = "${var.prefix}-parked"
  account_id  = var.account_id
  region      = var.region
  kms_key_arn = module.key.arn
  publisher = {
    service    = "s3.amazonaws.com"
    conditions = { ArnEquals = { "aws:SourceArn" = module.parked_bucket.arn } }
  }
  subscribers = var.subscribers
}
