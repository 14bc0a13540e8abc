# Names and ids of endpoints, where security groups and prefix lists are asked for.
account_id = "222222222222"
prefix     = "penstock-analytics"
region     = "eu-central-1"
existing = {
  vpc_id              = "vpc-0123456789abcdef0"
  interface_endpoints = { glue = "vpce-0123456789abcdef0" }
  prefix_list_ids     = { dynamodb = "pl-0123456789abcdef0", s3 = "com.amazonaws.eu-central-1.s3" }
  route_table_ids     = ["subnet-0123456789abcdef1"]
  subnet_ids          = { euc1-az1 = "subnet-0123456789abcdef1", euc1-az2 = "100.64.1.0/24" }
}
zone_ids = ["euc1-az1", "euc1-az2"]
