cluster    = { kafka_version = "3.7.x.kraft" }
account_id = "111111111111"
prefix     = "penstock-kafka-3-7"
region     = "eu-central-1"
subnet_ids = { "euc1-az1" = "subnet-1", "euc1-az2" = "subnet-2", "euc1-az3" = "subnet-3" }
vpc_id     = "vpc-1"
