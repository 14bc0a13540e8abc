name                = "Lake"
kms_key_arn         = "arn:aws:kms:eu-central-1:222222222222:key/0e8d2b8c-6d7c-4f51-8d0b-0a2a2f8f2d11"
expiry              = { all = { days = 0 } }
replaced_days       = 0
replaced_days_below = { "tables/" = 0 }
