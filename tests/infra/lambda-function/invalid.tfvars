account_id  = "11111111111"
region      = "eu-central-1"
name        = "the producer"
description = "Nobody reads a description that goes on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on"
environment = { AWS_REGION = "eu-central-1" }
memory_mib  = 64
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = []
  egress     = { brokers = { port = 9098 } }
}
package = {
  path           = "../../tests/data/missing.zip"
  architecture   = "arm"
  python_version = "3.10"
}
policy_json          = "{}"
reserved_concurrency = -1
timeout_seconds      = 901
