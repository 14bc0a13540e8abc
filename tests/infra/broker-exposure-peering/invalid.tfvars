prefix       = "penstock"
broker_count = 61
cluster = {
  security_group_id = "sg-0123456789abcdef0"
  zone_name         = "penstock.abc123.c2.kafka.eu-central-1.amazonaws.com"
}
consumers = {
  analytics = { account_id = "2222", cidr = "10.1.0.1/16", connection_id = "vpce-0123456789abcdef0" }
  billing   = { account_id = "333333333333", cidr = "10.1.128.0/17", connection_id = "pcx-0123456789abcdef1" }
}
ports           = [9096, 9098]
route_table_ids = []
vpc_id          = "vpc-0123456789abcdef0"
zone_ids        = ["euc1-az1"]
