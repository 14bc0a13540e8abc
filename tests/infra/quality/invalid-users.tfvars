platform = merge(local.platform, { brokers = merge(local.platform.brokers, { logins = { audit = local.platform.brokers.logins.jobs } }) })
tables   = { orders = {} }
