prefix      = "penstock-analytics"
account_id  = "222222222222"
application = local.platform.jobs.application
partition   = "aws"
region      = "eu-central-1"
roles       = { Consume = "none" }
runs        = {}
