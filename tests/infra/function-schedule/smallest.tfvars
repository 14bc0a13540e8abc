account_id = "222222222222"
function   = { arn = "arn:aws:lambda:eu-central-1:222222222222:function:penstock-retry", name = "penstock-retry" }
name       = "penstock-retry"
partition  = "aws"
region     = "eu-central-1"
