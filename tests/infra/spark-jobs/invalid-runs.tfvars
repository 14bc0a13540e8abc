prefix      = "penstock-analytics"
account_id  = "222222222222"
application = local.platform.jobs.application
partition   = "aws"
region      = "eu-central-1"
parameters  = { replay = { topics = "sensor" } }
roles       = {}
runs        = { consume = { program = "s3://artifacts/jobs/consume.py", role = "consume" } }
