account_id = "111111111111"
region     = "eu-central-1"
name       = "penstock-client-shell"
host       = { image_parameter = "ami-0123456789abcdef0", instance_type = "small", packages_bucket = "s3://acme-packages", volume_gib = 7.5 }
network    = { vpc_id = "vpc-0123456789abcdef0", subnet_ids = [] }
