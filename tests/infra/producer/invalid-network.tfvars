# One zone, an address range that overlaps, and a cluster that nobody else can read: each told once.
account_id = "111111111111"
region     = "eu-central-1"
cluster    = { type = "serverless" }
consumers  = [{ name = "analytics", account_id = "222222222222", topics = ["sensor"] }]
producers  = { producer = { topic = "orders" } }
topics     = { sensor = { properties = { "segment.bytes" = "1048576" } } }
network = {
  cidr        = "10.0.0.0/16"
  zone_ids    = ["euc1-az1"]
  other_cidrs = ["10.0.128.0/20"]
}
