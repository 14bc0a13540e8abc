# A client has a security group or a host.
account_id = "111111111111"
region     = "eu-central-1"
clients = {
  both  = { host = {}, reads = ["sensor"], security_group_id = "sg-0123456789abcdef1" }
  shell = { reads = ["sensor"] }
}
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
