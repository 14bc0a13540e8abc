account_id = "111111111111"
region     = "eu-central-1"
consumers = [
  { name = "analytics", account_id = "222222222222", topics = ["sensor"], peering = { cidr = "10.1.0.0/16", connection_id = "pcx-0123456789abcdef0" } },
  # It has not asked yet.
  { name = "billing", account_id = "333333333333", topics = ["sensor"] },
]
exposure = { kind = "peering" }
network  = { zone_ids = ["euc1-az1", "euc1-az2"] }
