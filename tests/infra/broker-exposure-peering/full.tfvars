prefix       = "penstock-producer"
broker_count = 60
cluster = {
  security_group_id = "sg-0123456789abcdef0"
  zone_name         = "penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
}
consumers = {
  analytics = { account_id = "222222222222", cidr = "10.1.0.0/16", connection_id = "pcx-0123456789abcdef0" }
  billing   = { account_id = "333333333333", cidr = "10.2.0.0/20", connection_id = "pcx-0123456789abcdef1" }
}
ports = [9096, 9094]
# The id of the second is known at apply only.
route_table_ids = ["rtb-0123456789abcdef0", terraform_data.later.output]
vpc_id          = "vpc-0123456789abcdef0"
zone_ids        = ["euc1-az1", "euc1-az2", "euc1-az3"]
