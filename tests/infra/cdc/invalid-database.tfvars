database = { name = "films" }
name     = "films"
platform = {
  account_id           = "111111111111"
  partition            = "aws"
  permissions_boundary = "arn:aws:iam::111111111111:policy/boundary"
  prefix               = "penstock"
  region               = "eu-central-1"
  alarms               = { topic_arn = "arn:aws:sns:eu-central-1:111111111111:penstock-alarms" }
  brokers              = { bootstrap_servers = "b-1.example.com:9098", name = "penstock", security_group_id = "sg-brokers" }
  network = {
    endpoint_policy             = "{}"
    endpoint_security_group_ids = { endpoints = "sg-endpoints" }
    interface_endpoints         = ["glue"]
    subnet_ids                  = ["subnet-a", "subnet-b"]
    vpc_id                      = "vpc-1"
  }
  retention = { force_destroy = false, key_deletion_days = 30, log_days = 365, secret_recovery_days = 30 }
}
plugin   = "../../tests/data/tiny.zip"
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
