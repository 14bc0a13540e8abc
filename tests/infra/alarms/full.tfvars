prefix             = "penstock-producer"
account_id         = "222222222222"
region             = "eu-central-1"
cluster            = { name = "penstock-producer", broker_count = 2, per_broker = true }
consumers          = ["penstock-producer-consumer"]
dead_letter_queues = ["penstock-producer-producer-dead-letters"]
endpoint_services  = { "1" = "vpce-svc-0123456789abcdef1", "2" = terraform_data.later.output }
functions          = ["penstock-producer-producer"]
load_balancers = {
  "1"      = { arn_suffix = "net/penstock-producer-1/0123456789abcdef", port = 9096, target_group_arn_suffix = "targetgroup/penstock-producer-1/0123456789abcdef" }
  "1/9094" = { arn_suffix = "net/penstock-producer-1/0123456789abcdef", port = 9094, target_group_arn_suffix = "targetgroup/penstock-producer-t-1/0123456789abcdef" }
  "2"      = { arn_suffix = terraform_data.later.output, port = 9096, target_group_arn_suffix = terraform_data.later.output }
}
lag_records = 500
retention   = { key_deletion_days = 7 }
spark = {
  alarms         = { consume-behind = { description = "Records wait.", dimensions = { service = "consume" }, metric = "RecordsBehind", minutes = 15, missing = "ignore", namespace = "Penstock", section = "spark-jobs", threshold = 500 } }
  application_id = terraform_data.later.output
  schedules      = ["penstock-producer-consumer-sync"]
}
tables    = { penstock-producer-errors = "due", penstock-producer-readings = null }
producers = { producer = { function = "penstock-producer-producer", schema = "sensor" } }
topic     = { publishers = ["endpoint_services", "rules"], subscribers = ["ops@example.com"] }
