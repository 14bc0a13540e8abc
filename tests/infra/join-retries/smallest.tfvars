artifacts_bucket = { arn = "arn:aws:s3:::artifacts" }
files            = { "shop-plan.json" = "s3://artifacts/files/shop-plan.json" }
joins            = {}
platform         = local.platform
