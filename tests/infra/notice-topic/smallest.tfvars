name        = "penstock-analytics-parked"
account_id  = "222222222222"
region      = "eu-central-1"
kms_key_arn = terraform_data.later.output
publishers  = { "s3.amazonaws.com" = {} }
