# Zones where no broker is, and an address range that overlaps: each told once.
account_id = "222222222222"
contract = local.contract
network = {
  cidr        = "10.1.0.0/16"
  zone_ids    = ["euc1-az3", "euc1-az4"]
  other_cidrs = ["10.0.0.0/8"]
}
lake = { parquet = { jobs = ["nobody"] } }
