account_id = "111111111111"
region     = "eu-central-1"
jobs = {
  sell    = { commands = ["sell"] }
  plant-b = { commands = ["totals"], parameters = { "output-topic" = "" }, trigger = "now" }
}
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
