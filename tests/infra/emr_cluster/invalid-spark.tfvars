platform = merge(local.platform, { jobs = null })
jobs     = ["consume"]
