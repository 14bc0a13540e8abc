# A rule for job runs that failed or were cancelled; a streaming run has no other end.
resource "aws_cloudwatch_event_rule" "ended" {
  for_each = { for spark in var.spark[*] : "job-ended" => spark.application_id }

  name        = "${var.prefix}-${each.key}"
  description = "Job runs of Spark that failed or were cancelled"
  event_pattern = jsonencode({
    source      = ["aws.emr-serverless"]
    detail-type = ["EMR Serverless Job Run State Change"]
    detail      = { applicationId = [each.value], state = ["FAILED", "CANCELLED"] }
  })

  lifecycle {
    precondition {
      condition     = contains(var.topic.publishers, "rules")
      error_message = "The topic lets no rules publish; add \"rules\" to topic.publishers."
    }
  }
}

resource "aws_cloudwatch_event_target" "ended" {
  for_each = aws_cloudwatch_event_rule.ended

  arn  = module.topic.arn
  rule = each.value.name

  input_transformer {
    input_paths    = { application = "$.detail.applicationId", run = "$.detail.jobRunId", state = "$.detail.state" }
    input_template = "\"The Spark job run <run> of the application <application> is <state>. See why with aws emr-serverless get-job-run, fix the cause, and start it again by its submit command.\""
  }
}
