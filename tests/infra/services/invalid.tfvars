brokers_parameter = "brokers"
eks               = { issuer = "https://oidc.eks.eu-central-1.amazonaws.com", namespace = "kafka" }
platform          = local.platform
services          = { service-a = { image = "demo" } }
