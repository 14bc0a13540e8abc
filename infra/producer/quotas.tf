# The quota of VPCs, which a plan reads (unless check_quotas is false), so that no apply stops half-way.
locals {
  makes_vpc = var.network.existing == null && var.check_quotas ? 1 : 0
  # The VPC of this root counts even before it is created.
  vpcs = local.makes_vpc == 0 ? 0 : length(data.aws_vpcs.all[0].ids) + (length(data.aws_vpcs.own[0].ids) > 0 ? 0 : 1)
}

data "aws_vpcs" "all" {
  count = local.makes_vpc
}

data "aws_vpcs" "own" {
  count = local.makes_vpc

  tags = { Name = var.prefix }
}

data "aws_servicequotas_service_quota" "vpcs" {
  count = local.makes_vpc

  quota_code   = "L-F678F1CE"
  service_code = "vpc"
}
