bootstrap_servers = "b-1.example.com:9096"
functions = {
  consumer = { errors = "errors", function = "penstock-analytics-consumer", memory_mib = 512, table = "readings", topics = ["sensor"] }
}
mapping  = { batching = { size = 500, window_seconds = 2 }, park_failed_batches = true, provisioned = { minimum_pollers = 2, maximum_pollers = 8 } }
unframed = "meter=confluent:17"
platform = local.platform
shapes   = { readings = { settings = { event-time = "measured_at" } } }
writers  = { consumer = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" } }
