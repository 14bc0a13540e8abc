platform = merge(local.platform, { jobs = null })
tables   = { orders = ["shop.order"] }
