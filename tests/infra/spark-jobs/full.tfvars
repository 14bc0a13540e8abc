prefix      = "penstock-analytics"
account_id  = "222222222222"
application = merge(local.platform.jobs.application, { id = "00f1a2b3c4d5e6f7" })
partition   = "aws"
region      = "eu-central-1"
parameters  = { consume = { topics = "sensor" } }
roles = {
  consume = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["dynamodb:BatchWriteItem"]
      Resource = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-readings"
    }]
  })
  replay = jsonencode({ Version = "2012-10-17", Statement = [] })
}
runs = {
  again   = { program = "s3://artifacts/jobs/replay.py", role = "replay", arguments = ["--attempts", "0"], schedule = "rate(1 day)" }
  consume = { program = "s3://artifacts/jobs/consume.py", role = "consume", arguments = ["--contract", "contract.json"], streaming = true, workers = { executor = { disk_gib = 100 } } }
}
