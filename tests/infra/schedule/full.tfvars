account_id           = "222222222222"
partition            = "aws"
region               = "eu-central-1"
expression           = "cron(0 6 ? * MON-FRI *)"
name                 = "penstock-run-consume"
permissions_boundary = "arn:aws:iam::222222222222:policy/boundary"
policy_json = jsonencode({
  Version = "2012-10-17"
  Statement = [{
    Effect   = "Allow"
    Action   = ["emr-serverless:StartJobRun"]
    Resource = ["arn:aws:emr-serverless:eu-central-1:222222222222:/applications/00f1"]
  }]
})
target = {
  arn         = "arn:aws:scheduler:::aws-sdk:emrserverless:startJobRun"
  description = "Starts a job run"
  input       = "{}"
}
