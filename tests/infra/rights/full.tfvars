backups          = ["s3://backups/penstock/events.jsonl"]
registry_secrets = ["arn:aws:secretsmanager:eu-central-1:222222222222:secret:registry-AbCdEf"]
upserts          = ["orders"]
account_id       = "222222222222"
lake             = { bucket = { arn = "arn:aws:s3:::lake" }, parked_bucket = { arn = "arn:aws:s3:::parked" } }
partition        = "aws"
prefix           = "penstock-analytics"
reader_role_arn  = "arn:aws:iam::111111111111:role/penstock-analytics-reader"
region           = "eu-central-1"
secret_names     = { functions = "penstock-analytics-functions-broker-login", jobs = "penstock-analytics-jobs-broker-login" }
store = {
  errors   = { errors = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-errors" }, archive-errors = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-archive-errors" } }
  readings = { for table in ["function_leases", "orders", "readings"] : table => { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-${table}", name = "penstock-analytics-${table}" } }
}
writers = {
  archive  = { errors = "archive-errors", tables = [] }
  shop     = { errors = "errors", reads = true, tables = ["orders"] }
  consumer = { errors = "errors", tables = ["readings"] }
  mixed    = { errors = "errors", tables = ["orders", "readings"] }
}
