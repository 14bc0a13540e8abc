artifacts_bucket = { arn = "arn:aws:s3:::artifacts" }
files            = { "shop-plan.json" = "s3://artifacts/files/shop-plan.json" }
joins = {
  shop = {
    errors     = "penstock-analytics-shop-errors"
    file       = "shop-plan.json"
    plan       = "../../tests/data/staging/absent.json"
    schedule   = "rate(5 minutes)"
    statements = "[]"
    waiting    = "penstock-analytics-shop_waiting"
  }
}
platform = local.platform
