account_id  = "222222222222"
partition   = "aws"
region      = "eu-central-1"
expression  = "rate(5 minutes)"
name        = "penstock-run-consume"
policy_json = jsonencode({ Version = "2012-10-17", Statement = [] })
target = {
  arn         = "arn:aws:scheduler:::aws-sdk:emrserverless:startJobRun"
  description = "Starts a job run"
  input       = jsonencode({ ClientToken = "<aws.scheduler.execution-id>", ApplicationId = "00f1", ExecutionRoleArn = "arn:aws:iam::222222222222:role/a" })
}
