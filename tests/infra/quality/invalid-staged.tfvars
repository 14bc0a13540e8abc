platform = local.platform
tables   = { customers = {}, orders = {} }
