# What the modules say is told by the root as well.
account_id = "111111111111"
region     = "eu-central-1"
consumers = [
  { name = "fraud-detection2", account_id = "444444444444", topics = ["sensor"] },
  { name = "analytics", account_id = "33333333333", topics = ["sensor"] },
]
exposure    = { kind = "internet" }
functions   = { architecture = "riscv", packages = "../../dist", python_version = "3.10" }
network     = { zone_ids = ["euc1-az1", "euc1-az2"] }
subscribers = ["ops"]
