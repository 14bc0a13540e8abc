account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
cluster = {
  arn               = "arn:aws:kafka:eu-central-1:111111111111:cluster/penstock-producer/7a2b3c4d-0000-4000-8000-000000000000-2"
  bootstrap_servers = "b-1.penstock.abc123.c2.kafka.eu-central-1.amazonaws.com:9098"
  name              = "penstock-producer"
  security_group_id = "sg-0123456789abcdef0"
}
network = { vpc_id = "vpc-0123456789abcdef0", subnet_ids = ["subnet-0123456789abcdef0"] }
package = { path = "../../tests/data/tiny.zip" }
readers = {
  analytics = { usernames = ["a"], topics = ["sensor"], group_prefix = "" }
  billing   = { usernames = ["a"], topics = ["sensor"], group_prefix = "b-" }
  books     = { usernames = ["b"], topics = [], group_prefix = "b-2-" }
}
topics = {
  sensor = { partitions = 1 }
}
