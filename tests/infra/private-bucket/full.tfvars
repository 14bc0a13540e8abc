name        = "penstock-analytics-lake-222222222222-eu-central-1"
kms_key_arn = terraform_data.later.output
expiry = {
  all     = { days = 365 }
  results = { days = 7, prefix = "results/" }
}
force_destroy = true
replaced_days = 1
