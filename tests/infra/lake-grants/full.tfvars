prefix      = "penstock-analytics"
account_id  = "111111111111"
region      = "eu-central-1"
bucket      = { name = "penstock-analytics-lake", arn = "arn:aws:s3:::penstock-analytics-lake" }
database    = { name = "penstock_analytics_lake" }
kms_key_arn = "arn:aws:kms:eu-central-1:111111111111:key/1234abcd-0000-4000-8000-000000000000"
principals = {
  consume          = { arn = terraform_data.later.output, database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
  consume-maintain = { arn = "arn:aws:iam::111111111111:role/maintain", tables = ["ALTER", "DESCRIBE"] }
}
analysts = {
  all    = { principals = ["arn:aws:iam::111111111111:role/team", "111111111111"] }
  german = { principals = ["arn:aws:iam::111111111111:role/de"], tables = { orders = { excluded_columns = ["email"], rows = "country = 'DE'" }, payments = { included_columns = ["amount"], rows = "amount > 10" } } }
  some   = { principals = ["arn:aws:iam::111111111111:role/some"], tables = { orders = { included_columns = ["id", "country"] }, payments = { excluded_columns = ["card"] }, shops = {} } }
}
folders              = ["plain", "tables"]
deploy_role_arn      = "arn:aws:iam::111111111111:role/deploy"
force_destroy        = true
permissions_boundary = "arn:aws:iam::111111111111:policy/boundary"
query_limit_bytes    = 10737418240
readers              = ["arn:aws:iam::111111111111:role/reports"]
