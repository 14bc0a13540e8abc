changes  = { recrawl = "CRAWL_NEW_FOLDERS_ONLY" }
platform = local.platform
