account_id = "111111111111"
name       = "penstock"
prefix     = "penstock-producer"
region     = "eu-central-1"
consumers = {
  analytics = {
    account_id              = "222222222222"
    endpoint_service_arns   = ["arn:aws:ec2:eu-central-1:111111111111:vpc-endpoint-service/vpce-svc-1", "arn:aws:ec2:eu-central-1:111111111111:vpc-endpoint-service/vpce-svc-2"]
    external_id             = "penstock-producer/analytics/222222222222"
    hand_over_principal_arn = "arn:aws:iam::222222222222:role/deploy"
    reader_principal_arns   = ["arn:aws:iam::222222222222:role/penstock-analytics-consumer", "arn:aws:iam::222222222222:role/penstock-analytics-job-*"]
    secret_name             = "AmazonMSK_penstock-producer_analytics"
  }
  # With multi-VPC connectivity there are no endpoint services.
  billing = {
    account_id              = "333333333333"
    external_id             = "penstock-producer/billing/333333333333"
    hand_over_principal_arn = "arn:aws:iam::333333333333:role/terraform/deploy"
    reader_principal_arns   = ["arn:aws:iam::333333333333:role/reader"]
    secret_name             = "AmazonMSK_penstock-producer_billing"
  }
}
