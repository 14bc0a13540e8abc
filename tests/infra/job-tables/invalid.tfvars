jobs = {
  consume = { writes = { "*" = "errors", sensor = "errors" } }
  shop    = { staging = { plan = "missing.json" } }
}
