# What this root needs of the account's quotas: a plan reads them (unless check_quotas is false), so that no apply stops
# half-way and no job waits for workers that it cannot get.
locals {
  makes_vpc = var.network.existing == null && var.check_quotas ? 1 : 0
  # Its own VPC counts before it is there too.
  _vpcs = local.makes_vpc == 0 ? 0 : length(data.aws_vpcs.all[0].ids) + (length(data.aws_vpcs.own[0].ids) > 0 ? 0 : 1)

  _maximum_vcpus = try(tonumber(split(" ", var.spark.application.maximum.cpu)[0]), 0)
  _reserved      = coalesce(var.functions.reserved_concurrency, 0) * length(local.joins)
  # Those of AWS, and of the brokers.
  _endpoints = length(local.interface_endpoints) + (var.contract.exposure == "privatelink" ? length(var.contract.brokers) : 0)

  # What an existing VPC has besides is not known here.
  wanted_quotas = {
    endpoints = { service = "vpc", code = "L-29B6F2EB", needed = var.network.existing == null ? local._endpoints : 0, does = "makes ${local._endpoints} interface endpoints in its VPC" }
    functions = { service = "lambda", code = "L-B99A9384", needed = local._reserved == 0 ? 0 : local._reserved + 100, does = "reserves ${local._reserved} of the functions that run at once, and 100 must stay unreserved" }
    vcpus     = { service = "emr-serverless", code = "L-D05C8A75", needed = local._maximum_vcpus, does = "lets the application have ${local._maximum_vcpus} vCPU (spark.application.maximum), and a job gets no worker beyond the quota" }
    vpcs      = { service = "vpc", code = "L-F678F1CE", needed = local._vpcs, does = "has its own VPC beside the others of the region, ${local._vpcs} together" }
  }

  quotas = {
    for name, found in data.aws_servicequotas_service_quota.this : name => {
      needed = local.wanted_quotas[name].needed
      told   = "${found.quota_code} of ${found.service_code} (${found.quota_name}) is ${found.value}, and this root ${local.wanted_quotas[name].does}: ask for ${local.wanted_quotas[name].needed} in Service Quotas, or for less here"
      value  = found.value
    }
  }
}

data "aws_vpcs" "all" {
  count = local.makes_vpc
}

data "aws_vpcs" "own" {
  count = local.makes_vpc

  tags = { Name = local.prefix }
}

# No condition of its own: it would be read after the resources that `needed` comes from.
data "aws_servicequotas_service_quota" "this" {
  for_each = { for name, quota in local.wanted_quotas : name => quota if var.check_quotas && quota.needed > 0 }

  quota_code   = each.value.code
  service_code = each.value.service
}
