# Names that begin with each other: of the functions of one consumer, and of two consumers.
account_id = "111111111111"
region     = "eu-central-1"
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
consumers = [
  { name = "shop", account_id = "222222222222", topics = ["sensor"], programs = { consumer = {}, consumer-sales = {}, functions = {} } },
  { name = "shop-eu", account_id = "333333333333", topics = ["sensor"], programs = { jobs = {} } },
]
