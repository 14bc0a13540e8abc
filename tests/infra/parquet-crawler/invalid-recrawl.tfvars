account_id = "222222222222"
bucket     = { name = "lake", arn = "arn:aws:s3:::lake", kms_key_arn = "arn:aws:kms:eu-central-1:222222222222:key/k" }
changes    = { recrawl = "CRAWL_NEW_FOLDERS_ONLY" }
database   = "penstock_lake"
folders    = ["plain/readings"]
name       = "penstock-parquet"
region     = "eu-central-1"
