prefix       = "penstock"
broker_count = 2
cluster = {
  security_group_id = "sg-0123456789abcdef0"
  zone_name         = terraform_data.later.output
}
route_table_ids = [terraform_data.later.output]
vpc_id          = "vpc-0123456789abcdef0"
zone_ids        = ["euc1-az1", "euc1-az2"]
