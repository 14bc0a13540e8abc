bootstrap_servers = "b-1.example.com:9096,b-2.example.com:9096"
clients  = { connect = { security_group_id = "sg-0123456789abcdef1" }, shell = { host = {} } }
platform = local.platform
