account_id    = "222222222222"
alias         = "penstock-analytics-spark"
deletion_days = 7
description   = "Artifacts, logs and notices of penstock-analytics"
services = {
  LetItsLogBeEncrypted = {
    service    = "logs.eu-central-1.amazonaws.com"
    actions    = ["kms:Encrypt", "kms:ReEncrypt*"]
    conditions = { ArnEquals = { "kms:EncryptionContext:aws:logs:arn" = "arn:aws:logs:eu-central-1:222222222222:log-group:spark" } }
  }
  LetTheBucketTell = {
    service = "s3.amazonaws.com"
    conditions = {
      ArnEquals    = { "aws:SourceArn" = "arn:aws:s3:::penstock-analytics-parked" }
      StringEquals = { "aws:SourceAccount" = "222222222222" }
    }
  }
  LetTheAlarmsPublish = { service = "cloudwatch.amazonaws.com" }
}
