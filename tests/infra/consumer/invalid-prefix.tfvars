account_id = "222222222222"
contract = local.contract
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
prefix  = "sg-analytics"
