prefix      = "penstock-analytics"
account_id  = "111111111111"
region      = "eu-central-1"
bucket      = { name = "penstock-analytics-lake", arn = "arn:aws:s3:::penstock-analytics-lake" }
database    = { name = "penstock_analytics_lake" }
kms_key_arn = "arn:aws:kms:eu-central-1:111111111111:key/1234abcd-0000-4000-8000-000000000000"
analysts = {
  Nobody = { principals = [] }
  both   = { principals = ["111111111111"], tables = { orders = { excluded_columns = ["a"], included_columns = ["b"] } } }
}
readers = ["reports"]
