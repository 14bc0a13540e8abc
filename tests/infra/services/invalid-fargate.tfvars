platform = merge(local.platform, { network = merge(local.platform.network, { interface_endpoints = ["glue"] }) })
services = { service-a = { image = "222222222222.dkr.ecr.eu-central-1.amazonaws.com/kafka-demo-service:1" } }
