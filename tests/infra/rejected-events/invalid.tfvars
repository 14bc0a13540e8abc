prefix     = "Penstock"
account_id = "22222222222"
region     = "Frankfurt"
keep_days  = 0
retention  = { key_deletion_days = 6 }
