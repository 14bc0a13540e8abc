bootstrap_servers = "b-1.example.com:9096"
functions = {
  reader = { errors = "errors", function = "penstock-analytics-consumer", memory_mib = 512, table = "errors", topics = ["sensor"] }
}
mapping  = { park_failed_batches = false }
platform = local.platform
shapes   = { readings = { settings = {} } }
writers  = { reader = { keep_errors = "[]", use_keys = "[]", write_rows = "[]" } }
