bootstrap_servers = "b-1.example.com:9096"
functions = {
  consumer = { errors = "errors", function = "penstock-analytics-consumer", memory_mib = 512, table = "readings", topics = ["tides"] }
}
mapping  = { park_failed_batches = false }
platform = local.platform
shapes   = { readings = { settings = {} } }
writers  = { consumer = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" } }
