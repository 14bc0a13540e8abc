# A topic that AWS services publish to, with e-mail subscribers.
locals {
  arn = "arn:${data.aws_partition.this.partition}:sns:${var.region}:${var.account_id}:${var.name}"
}

data "aws_partition" "this" {}

resource "aws_sns_topic" "this" {
  name              = var.name
  kms_master_key_id = var.kms_key_arn
}

resource "aws_sns_topic_policy" "this" {
  arn = aws_sns_topic.this.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        for service, conditions in var.publishers : merge(
          {
            Sid       = "Let${title(split(".", service)[0])}Publish"
            Effect    = "Allow"
            Principal = { Service = service }
            Action    = "sns:Publish"
            Resource  = local.arn
          },
          # The service publishes for many accounts: only this account is accepted (confused deputy).
          conditions == null ? {} : {
            Condition = merge(conditions, { StringEquals = { "aws:SourceAccount" = var.account_id } })
          },
        )
      ],
      [{
        Sid       = "OverTlsOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = local.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }],
    )
  })
}

resource "aws_sns_topic_subscription" "this" {
  for_each = var.subscribers

  endpoint  = each.value
  protocol  = "email"
  topic_arn = aws_sns_topic.this.arn
}
