job         = { reads = ["sensor"], staging = { plan = "../../tests/data/staging/plan.json", retry_seconds = 0 } }
parquet     = true
lag_records = 10000
name        = "shop"
platform    = local.platform
programs    = "../../jobs"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = {}, upserts = false } }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
tables      = { dynamodb = [], errors = "errors", finals = [], lake = [] }
