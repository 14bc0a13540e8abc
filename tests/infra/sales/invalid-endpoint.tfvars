platform = merge(local.platform, { network = merge(local.platform.network, { interface_endpoints = [] }) })
jobs     = { shop = { commands = ["summarize"] } }
