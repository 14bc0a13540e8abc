prefix      = "penstock-analytics"
account_id  = "222222222222"
application = local.platform.jobs.application
partition   = "aws"
region      = "eu-central-1"
roles       = { consume = "{\"Statement\": []}" }
runs = {
  again   = { program = "s3://artifacts/jobs/consume.py", role = "consume", workers = { driver = { cores = 3 }, executor = { disk_gib = 10 }, max_executors = 0 } }
  consume = { program = "s3://artifacts/jobs/consume.py", role = "consume", schedule = "rate(1 day)", streaming = true, workers = { executor = { cores = 2, memory_gib = 6 } } }
}
