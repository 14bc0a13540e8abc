changes      = { delete = "DELETE_FROM_DATABASE", update = "LOG" }
folders      = ["plain/meters", "plain/readings"]
platform     = local.platform
schedule     = "cron(0 6 * * ? *)"
table_prefix = "seen_"
