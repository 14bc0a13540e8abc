platform = local.platform
jobs     = { shop = { commands = ["summarize"] } }
