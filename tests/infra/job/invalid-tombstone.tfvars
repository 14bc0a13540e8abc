job         = { writes = { sensor = "readings" } }
lag_records = 10000
name        = "consume"
platform    = local.platform
programs    = "../../jobs"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = { tombstone = "delete" }, upserts = false } }
tables      = { dynamodb = ["readings"], errors = "errors", finals = [], lake = ["readings"] }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
