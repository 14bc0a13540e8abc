account_id = "111111111111"
region     = "eu-central-1"
name       = "penstock-client-shell"
network    = { vpc_id = "vpc-0123456789abcdef0", subnet_ids = ["subnet-0123456789abcdef0"] }
