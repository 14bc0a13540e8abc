account_id = "111111111111"
region     = "eu-central-1"
consumers = [
  { name = "analytics", account_id = "222222222222", topics = ["sensor"], programs = { audit = { group_prefix = "audit-", topics = ["meter"], writes = ["sensor"] } } },
  { name = "billing", account_id = "222222222222", topics = ["sensor"], programs = { Shop = {} } },
  { name = "empty", account_id = "222222222222", topics = ["sensor"], programs = {} },
  { name = "shop", account_id = "222222222222", topics = ["sensor"], programs = { consumer-shop = { certificate = "CN=shop, O=Acme" } } },
]
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
