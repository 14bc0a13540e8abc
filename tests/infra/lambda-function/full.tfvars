account_id   = "222222222222"
region       = "eu-west-1"
name         = "penstock-analytics-consumer"
description  = "Reads events from Kafka"
dead_letters = { bucket_arn = "arn:aws:s3:::penstock-analytics-rejected-222222222222-eu-central-1" }
environment  = { KAFKA_SECURITY = "iam" }
log_days     = 30
memory_mib   = 1024
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
  egress = {
    brokers = { port = 14001, to_port = 14100, security_group_id = "sg-0123456789abcdef0" }
    s3      = { port = 443, prefix_list_id = "pl-0123456789abcdef0" }
  }
}
package = {
  path           = "../../tests/data/tiny.zip"
  architecture   = "x86_64"
  python_version = "3.11"
}
policy_json          = "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": [\"s3:PutObject\"], \"Resource\": \"arn:aws:s3:::b/*\"}]}"
reserved_concurrency = 0
timeout_seconds      = 900
tracing              = false
