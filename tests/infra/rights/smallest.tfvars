account_id      = "222222222222"
lake            = { bucket = { arn = "arn:aws:s3:::lake" }, parked_bucket = { arn = "arn:aws:s3:::parked" } }
leases          = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-function_leases", name = "penstock-analytics-function_leases" }
partition       = "aws"
prefix          = "penstock-analytics"
reader_role_arn = "arn:aws:iam::111111111111:role/penstock-analytics-reader"
region          = "eu-central-1"
secret_name     = "AmazonMSK_penstock_analytics"
writers = {
  consumer = {
    errors  = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-errors" }
    tables  = [{ arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-readings" }]
    upserts = false
  }
}
