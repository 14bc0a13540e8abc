# Alarms that are published to one topic: those of functions and schedules, which are alike, and those that are given.
locals {
  _functions = merge([
    for name in var.functions : {
      "${trimprefix(name, "${var.prefix}-")}-errors" = {
        description = "The function ${name} ended with an error; read /aws/lambda/${name}, fix the cause, then send again what was lost."
        namespace   = "AWS/Lambda", metric = "Errors"
        dimensions  = { FunctionName = name }
        section     = "functions"
      }
      "${trimprefix(name, "${var.prefix}-")}-throttles" = {
        description = "Calls of the function ${name} were turned away; raise its reserved_concurrency, or the account's limit."
        namespace   = "AWS/Lambda", metric = "Throttles"
        dimensions  = { FunctionName = name }
        periods     = 3, section = "functions"
      }
    }
  ]...)

  _schedules = {
    for name in var.schedules : "${trimprefix(name, "${var.prefix}-")}-dropped" => {
      description = "The schedule ${name} could not invoke its function or start its job run; compare the trust and the policy of its role ${name}-schedule with infra/modules/schedule. Until then it does nothing."
      namespace   = "AWS/Scheduler", metric = "InvocationDroppedCount"
      dimensions  = { ScheduleGroup = name }
      section     = "a-schedule-that-was-dropped"
    }
  }

  # The default: a count above zero is wrong, and missing data is fine. An alarm that needs data publishes its
  # silence too: a metric that was there and stops. Before the first data there is nothing to publish, so a first
  # apply, in which a cluster takes half an hour, rings no alarm.
  _usual = {
    comparison = "GreaterThanThreshold", threshold = 0, statistic = "Sum"
    minutes    = 5, periods = 1, missing = "notBreaching", silence = false, section = ""
  }
  alarms = {
    for name, alarm in merge(local._functions, local._schedules, var.alarms) :
    name => merge(alarm, local._usual, { for key in keys(local._usual) : key => alarm[key] if try(alarm[key], null) != null })
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name                = "${var.prefix}-${each.key}"
  alarm_actions             = [var.topic_arn]
  alarm_description         = each.value.section == "" ? each.value.description : "${each.value.description} See docs/operate/alarms.md#${each.value.section}."
  comparison_operator       = each.value.comparison
  dimensions                = each.value.dimensions
  evaluation_periods        = each.value.periods
  insufficient_data_actions = each.value.silence ? [var.topic_arn] : []
  metric_name               = each.value.metric
  namespace                 = each.value.namespace
  ok_actions                = [var.topic_arn]
  period                    = 60 * each.value.minutes
  statistic                 = each.value.statistic
  threshold                 = each.value.threshold
  treat_missing_data        = each.value.missing
}
