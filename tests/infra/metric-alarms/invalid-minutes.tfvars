prefix = "penstock-analytics"
alarms = {
  day     = { description = "Look.", namespace = "Penstock", metric = "Late", dimensions = {}, minutes = 59, periods = 25 }
  fits    = { description = "Look.", namespace = "Penstock", metric = "Late", dimensions = {}, minutes = 60, periods = 168 }
  nothing = { description = "Look.", namespace = "Penstock", metric = "Late", dimensions = {}, minutes = 0 }
  parts   = { description = "Look.", namespace = "Penstock", metric = "Late", dimensions = {}, minutes = 1.5 }
  week    = { description = "Look.", namespace = "Penstock", metric = "Late", dimensions = {}, minutes = 1440, periods = 8 }
}
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
