platform = merge(local.platform, { registry = merge(local.platform.registry, { has_others = false }) })
tables   = { orders = ["shop.order"] }
