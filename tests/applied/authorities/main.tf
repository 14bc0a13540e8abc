# The module of the cluster, whose private CAs come and go.
variable "certificate_authorities" {
  type    = list(string)
  default = null
}

provider "aws" {
  region = "eu-central-1"
}

resource "aws_vpc" "this" {
  cidr_block = "10.9.0.0/16"
}

resource "aws_subnet" "this" {
  for_each = { euc1-az1 = 0, euc1-az2 = 1 }

  vpc_id               = aws_vpc.this.id
  availability_zone_id = each.key
  cidr_block           = cidrsubnet(aws_vpc.this.cidr_block, 8, each.value)
}

module "cluster" {
  source = "../modules/broker-cluster"

  prefix     = "authorities"
  account_id = "930000000013"
  region     = "eu-central-1"
  cluster    = { broker_count = 2, certificate_authorities = var.certificate_authorities }
  retention  = { key_deletion_days = 7, secret_recovery_days = 0 }
  subnet_ids = { for zone, subnet in aws_subnet.this : zone => subnet.id }
  vpc_id     = aws_vpc.this.id
}
