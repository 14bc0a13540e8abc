account_id = "111111111111"
region     = "eu-central-1"
consumers  = [{ name = "analytics", account_id = "222222222222", topics = ["sensor"] }]
exposure   = { kind = "multi_vpc" }
network = {
  zone_ids            = ["euc1-az1", "euc1-az2"]
  interface_endpoints = ["secretsmanager"]
  existing = {
    vpc_id          = data.aws_vpc.existing.id
    route_table_ids = ["rtb-0123456789abcdef0"]
    subnet_ids      = { euc1-az1 = "subnet-0123456789abcdef1", euc1-az2 = "subnet-0123456789abcdef2" }
  }
}
