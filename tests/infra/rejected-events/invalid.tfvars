prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
keep_days  = 0
