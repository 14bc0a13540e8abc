platform = local.platform
charges  = []
