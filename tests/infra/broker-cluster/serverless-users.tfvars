account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
cluster    = { type = "serverless" }
exposure   = "multi_vpc"
subnet_ids = { "euc1-az1" = "subnet-1", "euc1-az2" = "subnet-2" }
users      = { analytics_jobs = { account_id = "222222222222" } }
vpc_id     = "vpc-1"
