platform = local.platform
tables   = { customers = { missing-offsets = "100" } }
