eks      = { issuer = "oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF", namespace = "kafka" }
platform = merge(local.platform, { network = merge(local.platform.network, { interface_endpoints = ["ecr.api", "ecr.dkr", "glue", "sts"] }) })
services = { service-a = { environment = { TOPIC1 = "foo-topic" }, image = "222222222222.dkr.ecr.eu-central-1.amazonaws.com/kafka-demo-service:1" } }
