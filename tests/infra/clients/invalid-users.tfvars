bootstrap_servers = "b-1.example.com:9096,b-2.example.com:9096"
clients  = { shell = { host = {} } }
platform = merge(local.platform, { brokers = merge(local.platform.brokers, { logins = { audit = local.platform.brokers.logins.jobs } }) })
