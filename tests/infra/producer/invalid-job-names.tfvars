account_id = "111111111111"
region     = "eu-central-1"
clients    = { plant = { security_group_id = "sg-0123456789abcdef1", reads = ["sensor"] } }
jobs = {
  Sales   = { commands = ["totals"], reads = ["absent"] }
  plant   = { commands = ["totals"] }
  plant-b = { commands = ["totals"] }
}
network   = { zone_ids = ["euc1-az1", "euc1-az2"] }
producers = { job-plant = { topic = "sensor" }, spark = { schema = "other", topic = "sensor" } }
