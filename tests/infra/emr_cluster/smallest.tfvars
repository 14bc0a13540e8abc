platform = local.platform
jobs     = ["consume"]
