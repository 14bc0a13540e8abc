# A schedule that invokes one function, with the role that it works as.
locals {
  _place    = "${var.region}:${var.account_id}"
  group_arn = "arn:${data.aws_partition.this.partition}:scheduler:${local._place}:schedule-group/${var.name}"
}

data "aws_partition" "this" {}

# A group of its own: a role's trust policy can name the group of a schedule, not the schedule, and the metrics of
# invocations are those of a group.
resource "aws_scheduler_schedule_group" "this" {
  name = var.name
}

resource "aws_scheduler_schedule" "this" {
  # checkov:skip=CKV_AWS_297: its input is the time it was due; the service's own key encrypts it
  name                = var.name
  group_name          = aws_scheduler_schedule_group.this.name
  description         = "Invokes the function ${var.function.name}"
  schedule_expression = var.expression

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn = var.function.arn
    # By hand: jsonencode() writes < and > as \u003c and \u003e, which the scheduler does not fill in.
    input    = "{\"scheduled\": \"<aws.scheduler.scheduled-time>\"}"
    role_arn = aws_iam_role.this.arn

    # Of the call that gives the event to Lambda; what becomes of the event is Lambda's (below).
    retry_policy {
      maximum_event_age_in_seconds = 300
      maximum_retry_attempts       = 5
    }
  }

  depends_on = [aws_iam_role_policy.invoke, aws_lambda_function_event_invoke_config.this]
}

# Lambda would repeat an event that failed twice, and a throttled one for six hours. The next occurrence does what a lost
# one would have done, and an event says nothing but its time: there is nothing to keep of a failed one.
resource "aws_lambda_function_event_invoke_config" "this" {
  function_name = var.function.name

  maximum_event_age_in_seconds = 300
  maximum_retry_attempts       = 0
}

resource "aws_iam_role" "this" {
  name        = "${var.name}-schedule"
  description = "What the schedule ${var.name} may do"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "scheduler.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = var.account_id, "aws:SourceArn" = local.group_arn } }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

resource "aws_iam_role_policy" "invoke" {
  name = "invoke"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "InvokeTheFunction"
      Effect   = "Allow"
      Action   = ["lambda:InvokeFunction"]
      Resource = [var.function.arn]
    }]
  })
}
