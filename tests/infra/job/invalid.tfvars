job         = { arguments = { consume = { group-prefix = "mine-", lake-table = "other.readings" } }, checkpoint = "Replay", program = "absent", reads = ["tides"], schedules = { consume = "rate(1 hour)", stage = "rate(1 day)" }, transform = "absent", trigger = "often", workers = { maintain = {} }, writes = { "*" = "readings" } }
lag_records = 10000
name        = "consume"
platform    = local.platform
programs    = "../../jobs"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = {}, upserts = false } }
tables      = { dynamodb = ["readings"], errors = "errors", finals = [], lake = ["readings"] }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
