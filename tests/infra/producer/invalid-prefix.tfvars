account_id = "111111111111"
prefix     = "internal-penstock"
region     = "eu-central-1"
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
