account_id = "111111111111"
region     = "eu-central-1"
consumers = [
  { name = "analytics", account_id = "222222222222", topics = ["sensor"], registries = [{ url = "confluent+https://10.8.0.7?secret=/tmp/secret" }] },
  { name = "analytics", account_id = "333333333333", topics = ["sensor"] },
]
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
producers = {
  access = { topic = "sensor", compatibility = "backward", policy = "append" }
  other  = { topic = "sensors", schema = "sensor" }
  third  = { topic = "sensor/one", key = [], sort = ["a,b"], mode = "merge", numbers = "exact", times = "iso" }
  prices = { topic = "price", key = ["readingId"], order = [] }
  fourth = { topic = "sensor/two", policy = "fixed", version_budget = 3 }
  same   = { topic = "sensor", policy = "fixed" }
  orders = { topic = "order", registry = { url = "apicurio+https://reader:password@schemas.example.com" } }
}
