names = ["carts", "orders", "readings", "stocks"]
tables = {
  carts  = { deleted_when = { field = "op", values = ["D", "X"] }, key = ["cartId"], key_format = "string", mode = "upsert", sort_name = "none" }
  orders = { key = ["shop", "orderId"], key_name = "order", event_time = "none", mode = "upsert", order = ["revision"], sort = ["line"], tombstone = "ignore" }
  stocks = { key = ["item"], mode = "upsert" }
}
