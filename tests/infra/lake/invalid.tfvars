prefix            = "penstock-analytics"
account_id        = "222222222222"
region            = "eu-central-1"
keep_days         = { results = 0 }
query_limit_bytes = 1000
