clients  = { connect = { security_group_id = "sg-0123456789abcdef1" }, shell = { host = {} } }
platform = local.platform
