# The VPC that is there already (conftest.py), for cases that name it: a known id is read while planning.
data "aws_vpc" "existing" {
  tags = { Name = "existing" }
}

# Those of zones are in its second range, the one called first is in its first.
data "aws_subnet" "existing" {
  for_each = toset(["euc1-az1", "euc1-az2", "first"])

  vpc_id = data.aws_vpc.existing.id
  tags   = { Name = each.key }
}
