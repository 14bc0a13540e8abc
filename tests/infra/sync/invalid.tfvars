platform = local.platform
tables   = { customers = [] }
