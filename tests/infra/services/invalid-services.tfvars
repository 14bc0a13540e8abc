platform = local.platform
services = { service-a = { architecture = "arm", environment = { KAFKA_SECURITY = "tls" }, image = "demo" } }
