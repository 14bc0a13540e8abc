job = {
  arguments = {
    consume       = { max-offsets-per-trigger = 100000, on-lost-offsets = "go-on" }
    maintain_lake = { keep-hours = 240 }
    replay        = { dynamodb-rows-per-second = 100 }
  }
  checkpoint = "consume-2"
  reads      = ["sensor"]
  schedules  = { consume = "rate(1 hour)", maintain_lake = "cron(0 3 * * ? *)", replay = "rate(1 day)" }
  trigger    = "available-now"
  workers    = { consume = { executor = { cores = 2, disk_gib = 100 }, max_executors = 3 } }
  writes     = { "sensor" = "readings", "shop.customer" = "customers" }
}
parquet     = true
lag_records = 10000
name        = "consume"
platform    = local.platform
programs    = "../../jobs"
shapes      = { readings = { hash_key = "deviceId", range_key = "readingId", settings = { event-time = "measured_at" }, upserts = false }, customers = { hash_key = "id", settings = { mode = "upsert" }, upserts = true } }
written     = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" }
tables      = { dynamodb = ["customers", "readings"], errors = "errors", finals = [], lake = ["customers", "readings"] }
