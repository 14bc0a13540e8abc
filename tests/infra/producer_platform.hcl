# The platform of the cases of extensions of the producer's account: what its root puts out (test_extensions.py compares the two).
locals {
  platform = {
    account_id           = "111111111111"
    partition            = "aws"
    permissions_boundary = "arn:aws:iam::111111111111:policy/boundary"
    prefix               = "penstock"
    region               = "eu-central-1"
    alarms               = { topic_arn = "arn:aws:sns:eu-central-1:111111111111:penstock-alarms" }
    brokers = {
      bootstrap_servers = "b-1.example.com:9098"
      metrics           = { broker_count = 2, name = "penstock", per_broker = true }
      name              = "penstock"
      security_group_id = "sg-brokers"
      topics            = ["sensor", "site"]
    }
    functions = {
      access    = "penstock-access"
      producers = { producer = { dead_letter_queue = "penstock-producer-dead-letters", function = "penstock-producer", schema = "sensor" } }
    }
    network = {
      endpoint_security_group_ids = { endpoints = "sg-endpoints" }
      interface_endpoints         = ["glue", "secretsmanager"]
      subnet_ids                  = ["subnet-a", "subnet-b"]
      vpc_id                      = "vpc-1"
    }
    retention = { force_destroy = false, key_deletion_days = 30, log_days = 365, secret_recovery_days = 30 }
  }
}

output "platform" {
  value     = local.platform
  sensitive = true
}
