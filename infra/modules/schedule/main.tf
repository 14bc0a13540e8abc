# A schedule that calls one target, with the role that it works as.
locals {
  group_arn = "arn:${var.partition}:scheduler:${var.region}:${var.account_id}:schedule-group/${var.name}"
}

# A group of its own: a role's trust policy can name the group of a schedule, not the schedule, and the metrics of
# invocations are those of a group.
resource "aws_scheduler_schedule_group" "this" {
  name = var.name
}

resource "aws_scheduler_schedule" "this" {
  # checkov:skip=CKV_AWS_297: its input holds names and a time, no secret; the service's own key encrypts it
  name                = var.name
  group_name          = aws_scheduler_schedule_group.this.name
  description         = var.target.description
  schedule_expression = var.expression

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn = var.target.arn
    # jsonencode() writes < and > as \u003c and \u003e, which the scheduler does not fill in.
    input    = replace(replace(var.target.input, "\\u003c", "<"), "\\u003e", ">")
    role_arn = aws_iam_role.this.arn

    # The next occurrence does what a lost one would have done.
    retry_policy {
      maximum_event_age_in_seconds = 300
      maximum_retry_attempts       = 5
    }
  }

  depends_on = [aws_iam_role_policy.call]
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

resource "aws_iam_role_policy" "call" {
  name   = "invoke"
  role   = aws_iam_role.this.name
  policy = var.policy_json
}
