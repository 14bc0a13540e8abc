# The VPC that is there already (conftest.py), for cases that name it: a known id is read while planning.
data "aws_vpc" "existing" {
  tags = { Name = "existing" }
}
