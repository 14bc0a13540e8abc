# What does not fit another argument is said once each is right by itself.
account_id = "222222222222"
prefix     = "penstock-analytics"
region     = "eu-central-1"
cidr       = "10.1.0.0/20"
existing = {
  vpc_id          = "vpc-0123456789abcdef0"
  route_table_ids = ["rtb-0123456789abcdef0"]
  subnet_ids      = { euc1-az1 = "subnet-0123456789abcdef1" }
}
other_cidrs = ["10.1.0.0/16"]
zone_ids    = ["euc1-az1", "euc1-az2"]
