bucket               = { arn = "arn:aws:s3:::penstock-rejected", name = "penstock-rejected" }
permissions_boundary = "arn:aws:iam::222222222222:policy/boundary"
platform             = local.platform
producers = {
  fixed   = { function = "penstock-fixed", registry = { url = "glue://penstock?region=eu-central-1" }, schema = "fixed" }
  orders  = { function = "penstock-orders", registry = { secret_arn = "arn:aws:secretsmanager:eu-central-1:222222222222:secret:registry-AbCdEf", url = "apicurio+https://schemas.example.com" }, schema = "order", policy = "grow", version_budget = 12 }
  sensors = { function = "penstock-sensors", registry = { url = "glue://penstock?region=eu-central-1" }, schema = "sensor", version_budget = 99 }
}
status = { dead_letters = 5, kept_events = 10, minutes = 1, versions_left = 3 }
tables = {
  errors      = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-errors", due_index = "due", name = "penstock-analytics-errors" }
  shop-errors = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-shop-errors", due_index = "due", name = "penstock-analytics-shop-errors" }
}
