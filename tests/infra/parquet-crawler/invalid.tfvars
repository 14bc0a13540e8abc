account_id   = "222222222222"
bucket       = { name = "lake", arn = "arn:aws:s3:::lake", kms_key_arn = "arn:aws:kms:eu-central-1:222222222222:key/k" }
changes      = { delete = "DROP", recrawl = "CRAWL_EVENT_MODE", update = "MERGE" }
database     = "penstock_lake"
folders      = ["plain/readings/"]
name         = "penstock-parquet"
region       = "eu-central-1"
schedule     = "rate(1 hour)"
table_prefix = "Crawled"
