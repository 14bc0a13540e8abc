platform       = merge(local.platform, { network = merge(local.platform.network, { interface_endpoints = ["athena", "glue", "sts"] }) })
lake_formation = true
schedule       = "rate(1 hour)"
silent_hours   = 3
tables         = { orders = { late-share = "0.05" } }
