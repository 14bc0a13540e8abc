prefix    = "penstock-analytics"
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
