prefix = "penstock-analytics"
alarms = {
  usual = { description = "Do something.", namespace = "Penstock", metric = "PartitionsHeld", dimensions = { FunctionName = terraform_data.later.output } }
  other = { description = terraform_data.later.output, namespace = "Penstock", metric = "RowsChecked", dimensions = {}, comparison = "LessThanThreshold", minutes = 60, missing = "missing", periods = 3, silence = true, statistic = "SampleCount", threshold = 1 }
}
functions = ["penstock-analytics-consumer"]
schedules = ["penstock-analytics-consumer"]
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
