account_id = "111111111111"
prefix     = "aws-penstock"
region     = "eu-central-1"
subnet_ids = { "euc1-az1" = "subnet-1", "euc1-az2" = "subnet-2" }
vpc_id     = "vpc-1"
