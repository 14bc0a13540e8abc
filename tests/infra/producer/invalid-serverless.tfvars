# What a serverless cluster does not take, and a topic that nobody gives its properties.
account_id = "111111111111"
region     = "eu-central-1"
cluster    = { type = "serverless" }
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
producers  = { producer = { topic = "orders" } }
topics     = { sensor = { properties = { "segment.bytes" = "1048576" } } }
