# What the modules say is told by the root as well.
account_id = "222222222222"
contract = local.contract
functions   = { architecture = "arm", packages = "../../dist", python_version = "3.10" }
network     = { zone_ids = ["euc1-az1", "euc1-az2"] }
subscribers = ["fraud"]
