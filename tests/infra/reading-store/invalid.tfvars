prefix     = "Penstock"
account_id = "222222222222"
region     = "Frankfurt"
errors     = ["failures"]
tables     = { errors = { hash_key = "id" }, Orders = { hash_key = "id" } }
