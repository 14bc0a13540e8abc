platform = local.platform
schedule = "rate(1 hour)"
tables   = { orders = ["shop.order"], readings = ["sensor", "sensor.v2"] }
