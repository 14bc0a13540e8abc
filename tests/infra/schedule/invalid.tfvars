account_id  = "222222222222"
partition   = "aws"
region      = "eu-central-1"
expression  = "rate(5 minute)"
name        = "penstock.run"
policy_json = jsonencode({ Version = "2012-10-17", Statement = [] })
target      = { arn = "arn:aws:scheduler:::aws-sdk:emrserverless:startJobRun", description = "Starts a job run", input = "{}" }
