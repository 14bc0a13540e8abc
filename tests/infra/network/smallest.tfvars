account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
zone_ids   = ["euc1-az1", "euc1-az2"]
