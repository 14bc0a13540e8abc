platform = merge(local.platform, { functions = merge(local.platform.functions, { names = ["consumer", "consumer-quality"] }) })
tables   = { orders = {} }
