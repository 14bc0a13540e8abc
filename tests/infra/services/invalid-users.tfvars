platform = local.platform
services = { service-c = { image = "demo" } }
