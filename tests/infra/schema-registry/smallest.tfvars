account_id = "111111111111"
name       = "penstock"
prefix     = "penstock-producer"
region     = "eu-central-1"
