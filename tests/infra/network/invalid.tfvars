account_id          = "22222222222"
prefix              = "penstock-analytics"
region              = "eu-central-1"
cidr                = "10.1.0.0/26"
gateway_endpoints   = ["glue"]
interface_endpoints = ["s3"]
zone_ids            = ["eu-central-1a"]
