jobs = {
  other = { writes = { "*" = "customers" } }
  shop  = { staging = { plan = "../../tests/data/staging/plan.json" } }
  stall = { staging = { plan = "../../tests/data/staging/plan.json" } }
}
