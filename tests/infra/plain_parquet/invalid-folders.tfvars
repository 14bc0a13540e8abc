# An error of a default has no place.
folders  = null
platform = merge(local.platform, { lake = merge(local.platform.lake, { plain_folders = [] }) })
