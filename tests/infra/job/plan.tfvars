job         = { staging = { plan = "../../tests/data/staging/plan.json", retry_seconds = 60 } }
lag_records = 10000
name        = "shop"
platform    = local.platform
programs    = "../../jobs"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = {}, upserts = false } }
tables      = { dynamodb = ["approvals", "customers"], errors = "shop-errors", finals = ["approvals"], lake = ["customers"], waiting = "shop_waiting" }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
