account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
subnet_ids = { "euc1-az1" = "subnet-1" }
vpc_id     = "vpc-1"
