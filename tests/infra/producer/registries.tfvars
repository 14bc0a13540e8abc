# Two URLs of one Apicurio, and one of another: jobs have a way to each host.
account_id = "111111111111"
region     = "eu-central-1"
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
jobs       = { sales = { commands = ["totals"], reads = ["order"] } }
producers = {
  orders  = { topic = "order", registry = { cidr = "10.8.0.0/24", url = "confluent+https://schemas.example.com/apis/ccompat/v7" } }
  prices  = { topic = "price", registry = { url = "apicurio+http://10.9.0.7:8080" } }
  returns = { topic = "return", registry = { cidr = "10.8.0.0/24", url = "apicurio+https://schemas.example.com" } }
}
topics = { order = {}, price = {}, return = {} }
