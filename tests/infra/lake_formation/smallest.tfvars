platform = merge(local.platform, { lake = merge(local.platform.lake, { folders = ["tables"], principals = {} }) })
