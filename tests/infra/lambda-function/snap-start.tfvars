account_id  = "111111111111"
region      = "eu-central-1"
name        = "penstock-producer"
description = "Writes events to Kafka"
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = ["subnet-0123456789abcdef0"]
  egress     = {}
}
package      = { path = "../../tests/data/tiny.zip", snap_start = true }
dead_letters = { bucket_arn = terraform_data.later.output }
policy_json  = "{\"Statement\": []}"
