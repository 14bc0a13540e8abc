# Policies of jobs that are together too long for the inline policies of the one role that all share.
account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts = {
  bucket  = "artifacts"
  pyfiles = "s3://artifacts/pyfiles/penstock.zip"
}
network = {
  vpc_id    = "vpc-0123456789abcdef0"
  subnet_id = "subnet-0123456789abcdef0"
  egress    = {}
}
policies = {
  for job in ["first", "second-job"] : job => jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "WriteReadings"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchWriteItem"]
      Resource = [for number in range(50) : "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-${job}-${number}"]
    }]
  })
}
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
