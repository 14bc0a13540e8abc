job         = { program = "decode_batch", transform = "keep_hot", writes = { "*" = "readings" } }
lag_records = 10000
name        = "consume"
platform    = merge(local.platform, { brokers = merge(local.platform.brokers, { logins = { consume = merge(local.platform.brokers.logins.jobs, { group_prefix = "analytics-consume-", security = "tls", topics = ["sensor"] }), jobs = local.platform.brokers.logins.jobs }, tls_servers = "b-1.example.com:9094,b-2.example.com:9094" }) })
programs    = "../../examples"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = {}, upserts = false } }
tables      = { dynamodb = ["readings"], errors = "errors", finals = [], lake = ["readings"] }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
