platform = merge(local.platform, { jobs = null })
jobs     = { shop = { commands = ["summarize"] } }
