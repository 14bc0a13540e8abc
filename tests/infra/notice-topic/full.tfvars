name        = "penstock-analytics-parked"
account_id  = "222222222222"
region      = "eu-central-1"
kms_key_arn = "arn:aws:kms:eu-central-1:222222222222:key/0e8d2b8c-6d7c-4f51-8d0b-0a2a2f8f2d11"
publishers = {
  "events.amazonaws.com" = null
  "s3.amazonaws.com"     = { ArnEquals = { "aws:SourceArn" = "arn:aws:s3:::penstock-analytics-parked" } }
}
subscribers = ["on-call@example.com", "ops@example.com"]
