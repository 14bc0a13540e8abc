account_id    = "22222222222"
alias         = "penstock"
deletion_days = 6
description   = "Nothing"
services      = { Publish = { service = "cloudwatch" } }
