prefix      = "penstock-analytics"
account_id  = "222222222222"
application = merge(local.platform.jobs.application, { maximum = { cpu = "8 vCPU", memory = "32 GB" } })
partition   = "aws"
region      = "eu-central-1"
roles       = { consume = "{\"Statement\": []}" }
runs = {
  again   = { program = "s3://artifacts/jobs/consume.py", role = "consume" }
  consume = { program = "s3://artifacts/jobs/consume.py", role = "consume", streaming = true, workers = { executor = { cores = 2, memory_gib = 6 } } }
}
