prefix            = "Penstock"
account_id        = "22222222222"
region            = "Frankfurt"
keep_days         = { results = 0 }
query_limit_bytes = 1000
retention         = { key_deletion_days = 6 }
subscribers       = ["ops"]
