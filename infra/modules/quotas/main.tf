# What a root needs of the account's quotas: a plan reads them, so that no apply stops half-way and no job waits for workers
# that it cannot get.
locals {
  makes_vpc = var.check && var.makes_vpc ? 1 : 0
  # Its own VPC counts before it is there too.
  _vpcs = local.makes_vpc == 0 ? 0 : length(data.aws_vpcs.all[0].ids) + (length(data.aws_vpcs.own[0].ids) > 0 ? 0 : 1)
  wanted = merge(var.wanted, {
    vpcs = { service = "vpc", code = "L-F678F1CE", needed = local._vpcs, does = "has its own VPC beside the others of the region, ${local._vpcs} together" }
  })

  quotas = {
    for name, found in data.aws_servicequotas_service_quota.this : name => {
      needed = local.wanted[name].needed
      told   = "${found.quota_code} of ${found.service_code} (${found.quota_name}) is ${found.value}, and this root ${local.wanted[name].does}: ask for ${local.wanted[name].needed} in Service Quotas, or for less here"
      value  = found.value
    }
  }
}

data "aws_vpcs" "all" {
  count = local.makes_vpc
}

data "aws_vpcs" "own" {
  count = local.makes_vpc

  tags = { Name = var.prefix }
}

# No condition of its own: it would be read after the resources that `needed` comes from.
data "aws_servicequotas_service_quota" "this" {
  for_each = { for name, quota in local.wanted : name => quota if var.check && quota.needed > 0 }

  quota_code   = each.value.code
  service_code = each.value.service
}
