prefix        = "Penstock"
account_id    = "222222222222"
region        = "Frankfurt"
ttl_attribute = "goneAt"
