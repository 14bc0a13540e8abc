platform = local.platform
