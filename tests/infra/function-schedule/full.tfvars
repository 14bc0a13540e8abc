account_id           = "222222222222"
expression           = "cron(0 6 ? * MON-FRI *)"
function             = { arn = "arn:aws:lambda:eu-central-1:222222222222:function:penstock-retry", name = "penstock-retry" }
name                 = "penstock-retry"
permissions_boundary = "arn:aws:iam::222222222222:policy/boundary"
partition            = "aws"
region               = "eu-central-1"
