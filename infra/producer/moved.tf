# What an extension had and this root has now: its resources stay. It is found if extensions.tf calls the extension by the
# name of its folder.

# cdc
moved {
  from = module.cdc.aws_vpc_endpoint.services["secretsmanager"]
  to   = module.network.aws_vpc_endpoint.interface["secretsmanager"]
}
