bootstrap_servers = "b-1.example.com:9096,b-2.example.com:9096"
clients = {
  plant   = { security_group_id = "sg-0123456789abcdef1" }
  plant-b = { security_group_id = "sg-0123456789abcdef1" }
  spark   = {}
}
platform = local.platform
