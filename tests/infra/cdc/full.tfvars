alarms            = { free_gib = 20, retained_gib = 10 }
database          = { name = "films", port = 5433, instance = { class = "db.m7g.large", max_slot_wal_gib = 30, storage_gib = 200, multi_az = false, deletion_protection = false } }
flatten           = true
heartbeat_seconds = 30
login             = { rotation = 2, username = "capture" }
mcu_count         = 2
name              = "films"
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
prepared = true
registry = { url = "http://apicurio.example.com:8080", security_group_id = "sg-registry" }
settings = { "decimal.handling.mode" = "string" }
tables   = ["public.actor", "public.film"]
topics   = { partitions = 3, replicas = 2 }
