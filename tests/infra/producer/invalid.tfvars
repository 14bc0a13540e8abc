account_id = "11111111111"
region     = "Frankfurt"
prefix     = "acme-data-platform-kafkas"
consumers = [
  { name = "analytics", account_id = "222222222222", topics = ["sensor"] },
  { name = "analytics", account_id = "333333333333", topics = ["sensor"] },
]
network   = { zone_ids = ["euc1-az1", "euc1-az2"] }
retention = { key_deletion_days = 3, log_days = 8 }
producers = {
  access = { topic = "sensor", compatibility = "backward", policy = "append" }
  other  = { topic = "sensors", schema = "sensor" }
  third  = { topic = "sensor/one", key = [] }
  fourth = { topic = "sensor/two", policy = "fixed", version_budget = 3 }
}
permissions_boundary = "boundary"
tags                 = { "aws:owner" = "data" }
