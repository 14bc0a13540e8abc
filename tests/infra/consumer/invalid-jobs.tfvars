# What the map of jobs refuses by itself.
account_id = "222222222222"
contract = local.contract
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
jobs = {
  consume  = { checkpoint = "Replay", schedules = { consume = "rate(1 hour)" }, trigger = "often", writes = { "*" = "errors", sensor = "errors" } }
  replay-a = { arguments = { consume = { lake-table = "other.readings" } }, checkpoint = "Replay", schedules = { stage = "rate(1 day)" }, workers = { maintain = {} }, writes = {} }
}
consumer_functions = { reader = { table = "errors" } }
