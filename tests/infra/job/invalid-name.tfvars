job         = { writes = { "*" = "readings" } }
lag_records = 10000
name        = "replay-a"
platform    = local.platform
programs    = "../../jobs"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = {}, upserts = false } }
tables      = { dynamodb = ["readings"], errors = "errors", finals = [], lake = ["readings"] }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
