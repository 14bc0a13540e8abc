bootstrap_servers = "b-1.example.com:9096,b-2.example.com:9096"
clients  = {}
platform = local.platform
