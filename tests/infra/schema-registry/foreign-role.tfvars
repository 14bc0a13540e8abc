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
    secret_name             = "AmazonMSK_penstock-producer_analytics"
  }
}
