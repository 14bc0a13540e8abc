account_id = "222222222222"
prefix     = "penstock-analytics"
region     = "eu-central-1"
existing = {
  vpc_id          = data.aws_vpc.existing.id
  prefix_list_ids = { s3 = "pl-0123456789abcdef0" }
  interface_endpoints = {
    glue           = "sg-0123456789abcdef1"
    lambda         = "sg-0123456789abcdef2"
    secretsmanager = "sg-0123456789abcdef1"
  }
  route_table_ids = ["rtb-0123456789abcdef0"]
  subnet_ids = {
    euc1-az1 = "subnet-0123456789abcdef1"
    euc1-az2 = "subnet-0123456789abcdef2"
    euc1-az3 = "subnet-0123456789abcdef3"
  }
}
gateway_endpoints   = ["dynamodb", "s3"]
interface_endpoints = ["glue", "secretsmanager", "sts"]
zone_ids            = ["euc1-az1", "euc1-az2"]
