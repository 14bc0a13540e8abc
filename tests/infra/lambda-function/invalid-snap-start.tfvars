account_id  = "111111111111"
region      = "eu-central-1"
name        = "penstock-producer"
description = "Writes events to Kafka"
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = ["subnet-0123456789abcdef0"]
  egress     = {}
}
package     = { path = "../../tests/data/tiny.zip", python_version = "3.11", snap_start = true }
policy_json = "{\"Statement\": []}"
