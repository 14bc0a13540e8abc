# Records that were given up, and the topic that says so. The consumer function's mapping puts whole
# batches below aws/lambda/; the jobs put single records elsewhere, and say so themselves.
locals {
  batches_prefix = "aws/lambda/"
  topic_arn      = "arn:${local.partition}:sns:${var.region}:${var.account_id}:${var.prefix}-parked"
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
    topic_arn     = aws_sns_topic.parked.arn
  }

  # S3 publishes a test message when it is told, and refuses a topic that it may not publish to.
  depends_on = [aws_sns_topic_policy.parked]
}

resource "aws_sns_topic" "parked" {
  name              = "${var.prefix}-parked"
  kms_master_key_id = module.key.arn
}

resource "aws_sns_topic_policy" "parked" {
  arn = aws_sns_topic.parked.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "LetTheBucketPublish"
        Effect    = "Allow"
        Principal = { Service = "s3.amazonaws.com" }
        Action    = "sns:Publish"
        Resource  = local.topic_arn
        Condition = {
          ArnEquals    = { "aws:SourceArn" = module.parked_bucket.arn }
          StringEquals = { "aws:SourceAccount" = var.account_id }
        }
      },
      {
        Sid       = "OverTlsOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = local.topic_arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_sns_topic_subscription" "parked" {
  for_each = var.subscribers

  endpoint  = each.value
  protocol  = "email"
  topic_arn = aws_sns_topic.parked.arn
}
