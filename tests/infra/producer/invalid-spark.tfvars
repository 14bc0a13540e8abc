account_id = "111111111111"
region     = "eu-central-1"
jobs       = { totals = { commands = ["totals"], reads = ["sensor"] } }
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
spark      = { cluster = { jobs = ["figures"] }, jars = "../../tests/data/no-jars" }
