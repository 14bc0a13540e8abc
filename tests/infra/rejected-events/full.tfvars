prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
functions  = ["penstock-meters", "penstock-producer"]
keep_days  = 30
retention  = { force_destroy = true, key_deletion_days = 7 }
