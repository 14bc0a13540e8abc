clients  = {}
platform = local.platform
