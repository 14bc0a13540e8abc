account_id           = "222222222222"
bucket               = { name = "lake", arn = "arn:aws:s3:::lake", kms_key_arn = "arn:aws:kms:eu-central-1:222222222222:key/k" }
changes              = { delete = "DELETE_FROM_DATABASE", update = "LOG" }
database             = "penstock_lake"
folders              = ["plain/meters", "plain/readings"]
name                 = "penstock-parquet"
permissions_boundary = "arn:aws:iam::222222222222:policy/boundary"
region               = "eu-central-1"
schedule             = "cron(0 6 * * ? *)"
table_prefix         = "seen_"
