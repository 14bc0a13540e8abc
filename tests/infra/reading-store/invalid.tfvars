prefix        = "Penstock"
account_id    = "222222222222"
region        = "Frankfurt"
errors        = ["failures"]
tables        = ["errors", "Orders"]
ttl_attribute = "goneAt"
