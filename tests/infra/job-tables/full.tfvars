jobs = {
  archive = { staging = { plan = "../../tests/data/staging/archive.json" } }
  carts   = { writes = { cart = "carts", order = "cart_orders" } }
  shop    = { staging = { plan = "../../tests/data/staging/plan.json" } }
}
