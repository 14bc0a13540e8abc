account_id           = "11111111111"
region               = "Frankfurt"
prefix               = "acme-data-platform-kafkas"
network              = { zone_ids = ["euc1-az1", "euc1-az2"] }
retention            = { key_deletion_days = 3, log_days = 8 }
permissions_boundary = "boundary"
topics               = { sensor = { unframed = "sensor:1" } }
tags                 = { "aws:owner" = "data" }
test_events          = { events = { Meter = "{}" } }
