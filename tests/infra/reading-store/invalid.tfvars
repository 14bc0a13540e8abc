prefix        = "Penstock"
account_id    = "222222222222"
region        = "Frankfurt"
tables        = ["errors", "Orders"]
ttl_attribute = "goneAt"
