prefix    = "penstock-analytics"
alarms    = { odd = { description = "Look.", namespace = "Penstock", metric = "Odd", dimensions = {}, missing = "odd" } }
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
