artifacts_bucket = { arn = "arn:aws:s3:::artifacts" }
files            = { "shop-plan.json" = "s3://artifacts/files/shop-plan.json" }
joins = {
  shop = {
    errors        = "penstock-analytics-shop-errors"
    file          = "shop-plan.json"
    plan          = "../../tests/data/staging/plan.json"
    retry_seconds = 60
    schedule      = "rate(5 minutes)"
    statements    = jsonencode([{ Sid = "WriteJoinedRows", Effect = "Allow", Action = ["dynamodb:PutItem"], Resource = ["arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-approved"] }])
    waiting       = "penstock-analytics-shop_waiting"
  }
}
platform = local.platform
