prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
errors     = ["errors", "shop-errors"]
retention  = { deletion_protection = false, key_deletion_days = 7 }
tables = {
  orders   = { fixed = { key = "orderId", order = "revision" }, hash_key = "orderId" }
  readings = { hash_key = "deviceId", range_key = "readingId" }
}
