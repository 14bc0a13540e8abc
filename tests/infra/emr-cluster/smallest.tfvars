account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts = {
  bucket  = "penstock-analytics-artifacts-222222222222-eu-central-1"
  pyfiles = "s3://penstock-analytics-artifacts-222222222222-eu-central-1/pyfiles/penstock.zip"
}
network = {
  vpc_id    = "vpc-0123456789abcdef0"
  subnet_id = "subnet-0123456789abcdef0"
  egress    = {}
}
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
