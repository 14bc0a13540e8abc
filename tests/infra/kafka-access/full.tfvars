account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
cluster = {
  arn               = "arn:aws:kafka:eu-central-1:111111111111:cluster/penstock-producer/7a2b3c4d-0000-4000-8000-000000000000-2"
  bootstrap_servers = "b-1.penstock.abc123.c2.kafka.eu-central-1.amazonaws.com:9098"
  name              = "penstock-producer"
  security_group_id = "sg-0123456789abcdef0"
}
delete_removed_topics = true
log_days              = 30
network               = { vpc_id = "vpc-0123456789abcdef0", subnet_ids = ["subnet-0123456789abcdef0"] }
package               = { path = "../../tests/data/tiny.zip", architecture = "x86_64", python_version = "3.12" }
readers = {
  analytics = { usernames = ["analytics"], topics = ["sensor"], group_prefix = "analytics-", functions_of = "analytics" }
  of-sensor = { usernames = ["of-sensor"], topics = ["sensor"], group_prefix = "analytics-sensor-", functions_of = "analytics" }
  billing   = { usernames = ["billing_a", "billing_b"], topics = ["sensor", "meter"], group_prefix = "billing-", transactions = true, writes = ["meter"] }
}
topics = {
  meter  = { partitions = 3, replicas = 3 }
  sensor = { partitions = 6, properties = { "retention.ms" = "604800000" } }
}
