prefix            = "penstock-analytics"
account_id        = "222222222222"
region            = "eu-central-1"
keep_days         = { parked = 30, replaced = 2, replaced_files = 1, results = 1 }
query_limit_bytes = 10485760
retention         = { force_destroy = true, key_deletion_days = 7 }
subscribers       = ["ops@example.com"]
