account_id = "111111111111"
region     = "eu-central-1"
cluster    = { broker_count = 2 }
consumers  = [{ name = "analytics", account_id = "222222222222", topics = ["sensor"], programs = { ledger = { certificate = "CN=ledger,O=Acme" } } }]
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
