# The VPC has EMR's endpoint already.
platform = merge(local.platform, { network = merge(local.platform.network, {
  egress              = merge(local.platform.network.egress, { emr-service-cell01 = { port = 443, security_group_id = "sg-0123456789abcdef3" } })
  interface_endpoints = concat(local.platform.network.interface_endpoints, ["emr-service-cell01"])
}) })
jobs = ["consume"]
