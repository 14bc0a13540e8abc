# A region in which MSK has no automatic scaling of volumes.
account_id = "111111111111"
prefix     = "penstock-producer"
region     = "ap-northeast-3"
subnet_ids = { "apne3-az1" = "subnet-1", "apne3-az2" = "subnet-2", "apne3-az3" = "subnet-3" }
vpc_id     = "vpc-1"
