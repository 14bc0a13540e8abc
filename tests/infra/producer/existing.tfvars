# A VPC with EMR's endpoint and some others.
account_id = "111111111111"
region     = "eu-central-1"
jobs       = { sales = { commands = ["totals"], reads = ["order"] } }
network = {
  zone_ids = ["euc1-az1", "euc1-az2"]
  existing = {
    vpc_id              = data.aws_vpc.existing.id
    interface_endpoints = { emr-service-cell01 = "sg-0123456789abcdef1", logs = "sg-0123456789abcdef1", ssm = "sg-0123456789abcdef2" }
    route_table_ids     = ["rtb-0123456789abcdef0"]
    subnet_ids          = { euc1-az1 = "subnet-0123456789abcdef1", euc1-az2 = "subnet-0123456789abcdef2" }
  }
}
producers = { orders = { topic = "order" } }
spark     = { cluster = { jobs = ["sales"] } }
topics    = { order = {} }
