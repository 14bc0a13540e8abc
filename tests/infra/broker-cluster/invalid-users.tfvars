account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
exposure   = "internet"
subnet_ids = { "euc1-az1" = "subnet-1", "euc1-az2" = "subnet-2", "euc1-az3" = "subnet-3" }
users      = { Analytics = { account_id = "22222222222", rotation = 0 } }
vpc_id     = "vpc-1"
