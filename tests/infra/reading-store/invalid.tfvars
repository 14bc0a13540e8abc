prefix         = "Penstock"
account_id     = "22222222222"
region         = "Frankfurt"
retention      = { key_deletion_days = 31 }
ttl_attributes = { readings = "goneAt" }
