platform = local.platform
tables   = { missing = {} }
