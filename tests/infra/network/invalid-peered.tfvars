# Peering routes one range.
account_id = "222222222222"
prefix     = "penstock-analytics"
region     = "eu-central-1"
existing = {
  vpc_id          = data.aws_vpc.existing.id
  route_table_ids = ["rtb-0123456789abcdef0"]
  subnet_ids      = { euc1-az1 = data.aws_subnet.existing["euc1-az1"].id, euc1-az2 = data.aws_subnet.existing["first"].id }
}
peered   = true
zone_ids = ["euc1-az1", "euc1-az2"]
