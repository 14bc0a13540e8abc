account_id = "111111111111"
name       = "penstock"
prefix     = "penstock-producer"
region     = "eu-central-1"
consumers = {
  analytics = {
    account_id              = "222222222222"
    external_id             = "penstock-producer/analytics/222222222222"
    hand_over_principal_arn = "arn:aws:iam::222222222222:role/deploy"
    reader_principal_arns   = ["arn:aws:iam::333333333333:role/penstock-analytics-consumer"]
    secret_arn              = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:AmazonMSK_penstock-producer_analytics-a1b2c3"
    secret_key_arn          = "arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555"
  }
}
