brokers_parameter = "brokers"
eks               = { issuer = "https://oidc.eks.eu-central-1.amazonaws.com", namespace = "kafka" }
platform          = merge(local.platform, { network = merge(local.platform.network, { interface_endpoints = ["glue"] }) })
services          = { service-a = { image = "demo" } }
