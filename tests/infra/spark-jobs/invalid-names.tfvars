prefix      = "penstock-fraud-detection"
account_id  = "222222222222"
application = local.platform.jobs.application
partition   = "aws"
region      = "eu-central-1"
roles       = { consume = jsonencode({ Version = "2012-10-17", Statement = [] }) }
runs = {
  readings-of-turbine-maintain  = { program = "s3://artifacts/jobs/maintain_lake.py", role = "consume", schedule = "rate(1 day)" }
  readings-of-pump-maintain     = { program = "s3://artifacts/jobs/maintain_lake.py", role = "consume", schedule = "rate(1 day)" }
  readings-of-turbines-maintain = { program = "s3://artifacts/jobs/maintain_lake.py", role = "consume" }
}
