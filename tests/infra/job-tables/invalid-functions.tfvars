functions = { consumer = "carts", consumer-orders = "orders" }
jobs      = { consume = { writes = { order = "orders", sensor = "readings" } } }
