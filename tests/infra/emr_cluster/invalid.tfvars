platform = local.platform
jobs     = ["consume", "fold"]
