# A client has a security group of its own or a host, and none, one or two rights on access lists.
account_id = "111111111111"
region     = "eu-central-1"
clients = {
  both     = { host = {}, reads = ["sensor"], security_group_id = "sg-0123456789abcdef1" }
  operator = { access_lists = "all", host = {} }
  other    = { reads = ["sensor"], security_group_id = "sg-0123456789abcdef1" }
  shell    = { reads = ["sensor"] }
}
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
