# Rules of jobs that read other variables.
account_id = "222222222222"
contract = local.contract
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
jobs = {
  consume = { program = "absent", reads = ["meter"], writes = { "*" = "readings" } }
}
consumer_functions = { consumer = { topics = ["meter"] } }
