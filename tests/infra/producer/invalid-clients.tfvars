account_id = "111111111111"
region     = "eu-central-1"
clients = {
  plant    = { security_group_id = "sg-0123456789abcdef1", reads = ["sensor"] }
  plant-b  = { security_group_id = "sg-0123456789abcdef2", reads = ["sensor"] }
  nobody   = { security_group_id = "sg-0123456789abcdef3" }
  producer = { security_group_id = "sg-0123456789abcdef4", reads = ["absent"] }
}
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
