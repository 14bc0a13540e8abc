clients  = { spark = {} }
platform = local.platform
