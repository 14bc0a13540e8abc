platform = merge(local.platform, { jobs = merge(local.platform.jobs, { programs = "../../absent" }) })
jobs     = { shop = { commands = ["summarize"] } }
