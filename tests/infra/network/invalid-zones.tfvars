account_id = "222222222222"
prefix     = "penstock-analytics"
region     = "eu-central-1"
zone_ids   = ["euc1-az1", "euc1-az9"]
