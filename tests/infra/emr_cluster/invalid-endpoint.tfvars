platform = merge(local.platform, { network = merge(local.platform.network, { emr_buckets = false }) })
jobs     = ["consume"]
