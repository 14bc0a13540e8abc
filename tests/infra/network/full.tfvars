account_id          = "222222222222"
prefix              = "penstock-analytics"
region              = "eu-central-1"
cidr                = "10.1.0.0/20"
clients             = { consumer = terraform_data.later.output, spark = "sg-0123456789abcdef0" }
gateway_endpoints   = ["s3"]
interface_endpoints = ["ecr.dkr", "glue", "sts"]
log_days            = 30
other_cidrs         = ["10.0.0.0/16", "10.1.16.0/20"]
zone_ids            = ["euc1-az3", "euc1-az1", "euc1-az2"]
emr_buckets         = true
