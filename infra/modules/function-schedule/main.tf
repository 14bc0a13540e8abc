# A schedule that invokes one function, whose events are not repeated.
module "schedule" {
  source = "../schedule"

  account_id = var.account_id
  partition  = var.partition
  region     = var.region
  expression = var.expression
  name       = var.name
  target = {
    arn         = var.function.arn
    description = "Invokes the function ${var.function.name}"
    input       = jsonencode({ scheduled = "<aws.scheduler.scheduled-time>" })
  }
  policy_json = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "InvokeTheFunction"
      Effect   = "Allow"
      Action   = ["lambda:InvokeFunction"]
      Resource = [var.function.arn]
    }]
  })

  permissions_boundary = var.permissions_boundary

  depends_on = [aws_lambda_function_event_invoke_config.this]
}

# Lambda would repeat an event that failed twice, and a throttled one for six hours. The next occurrence does what a lost
# one would have done, and an event says nothing but its time: there is nothing to keep of a failed one.
resource "aws_lambda_function_event_invoke_config" "this" {
  function_name = var.function.name

  maximum_event_age_in_seconds = 300
  maximum_retry_attempts       = 0
}
