account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts  = { bucket = "artifacts", pyfiles = "s3://artifacts/pyfiles/penstock.zip" }
cluster    = { release_label = "emr-spark-9.0.0" }
network    = { vpc_id = "vpc-0123456789abcdef0", subnet_id = "subnet-0123456789abcdef0", egress = {} }
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
