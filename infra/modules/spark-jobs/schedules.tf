# The schedules of runs: each starts a run as its submit command does.
locals {
  # The scheduler takes the fields of an API in PascalCase.
  schedule_inputs = {
    for name, request in local.requests : name => {
      ApplicationId           = request.application_id
      ClientToken             = "<aws.scheduler.execution-id>"
      ExecutionRoleArn        = request.role_arn
      ExecutionTimeoutMinutes = request.timeout_minutes
      Mode                    = request.mode
      Name                    = name
      JobDriver = {
        SparkSubmit = {
          EntryPoint            = request.entry_point
          EntryPointArguments   = request.arguments
          SparkSubmitParameters = request.parameters
        }
      }
      ConfigurationOverrides = {
        ApplicationConfiguration = [{ Classification = "spark-defaults", Properties = request.configuration }]
        MonitoringConfiguration = {
          CloudWatchLoggingConfiguration = { Enabled = true, LogGroupName = request.log_group, LogStreamNamePrefix = name }
        }
      }
    }
  }
}

module "schedule" {
  source   = "../schedule"
  for_each = { for name, run in var.runs : name => run if run.schedule != null }

  account_id = var.account_id
  partition  = var.partition
  region     = var.region
  expression = each.value.schedule
  name       = "${var.prefix}-run-${each.key}"
  target = {
    arn         = "arn:${var.partition}:scheduler:::aws-sdk:emrserverless:startJobRun"
    description = "Starts the job run ${each.key} of ${var.application.name}"
    input       = jsonencode(local.schedule_inputs[each.key])
  }
  policy_json = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "StartTheRun"
        Effect   = "Allow"
        Action   = ["emr-serverless:StartJobRun"]
        Resource = [var.application.arn]
      },
      {
        Sid       = "HandOverItsRole"
        Effect    = "Allow"
        Action    = ["iam:PassRole"]
        Resource  = [local.role_arns[each.value.role]]
        Condition = { StringEquals = { "iam:PassedToService" = "emr-serverless.amazonaws.com" } }
      },
      {
        # EMR Serverless creates the interfaces of workers in the name of who starts the run.
        Sid       = "InterfacesOfWorkers"
        Effect    = "Allow"
        Action    = ["ec2:CreateNetworkInterface"]
        Resource  = ["arn:${var.partition}:ec2:${var.region}:${var.account_id}:network-interface/*"]
        Condition = { StringEquals = { "aws:CalledViaLast" = "ops.emr-serverless.amazonaws.com" } }
      },
    ]
  })

  permissions_boundary = var.permissions_boundary

  # A schedule with a rate starts a run as soon as it is there.
  depends_on = [aws_iam_role_policy.runtime, aws_iam_role_policy.work, aws_ssm_parameter.this, module.long_policy]
}
