changes      = { delete = "DROP", recrawl = "CRAWL_EVENT_MODE", update = "MERGE" }
folders      = ["plain/readings/"]
platform     = local.platform
schedule     = "rate(1 hour)"
table_prefix = "Crawled"
