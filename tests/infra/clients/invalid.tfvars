bootstrap_servers = "b-1.example.com:9096,b-2.example.com:9096"
clients  = { spark = {} }
platform = local.platform
