# Flow logs of the VPC that is created here; those of an existing VPC are its owner's.
locals {
  flow_log_group      = "${var.prefix}-flow-logs"
  flow_log_group_arn  = "arn:${local._partition}:logs:${var.region}:${var.account_id}:log-group:${local.flow_log_group}"
  flow_log_source_arn = "arn:${local._partition}:ec2:${var.region}:${var.account_id}:vpc-flow-log/*"
}

resource "aws_flow_log" "this" {
  count = local.make ? 1 : 0

  vpc_id               = aws_vpc.this[0].id
  traffic_type         = "ALL"
  log_destination_type = "cloud-watch-logs"
  log_destination      = local.flow_log_group_arn
  iam_role_arn         = aws_iam_role.flow_logs[0].arn

  tags = { Name = var.prefix }

  depends_on = [aws_cloudwatch_log_group.flow_logs, aws_iam_role_policy.flow_logs]
}

resource "aws_cloudwatch_log_group" "flow_logs" {
  # checkov:skip=CKV_AWS_158: addresses and ports only; CloudWatch's own encryption at rest will do
  # checkov:skip=CKV_AWS_338: how long is the owner's choice (log_days), a year unless it is said
  count = local.make ? 1 : 0

  name              = local.flow_log_group
  retention_in_days = var.log_days
}

resource "aws_iam_role" "flow_logs" {
  count = local.make ? 1 : 0

  name        = "${var.prefix}-flow-logs"
  description = "Lets the VPC write its flow logs"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "vpc-flow-logs.amazonaws.com" }
      # The service writes for many accounts: only this account is accepted (confused deputy).
      Condition = {
        ArnLike      = { "aws:SourceArn" = local.flow_log_source_arn }
        StringEquals = { "aws:SourceAccount" = var.account_id }
      }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

resource "aws_iam_role_policy" "flow_logs" {
  count = local.make ? 1 : 0

  name = "write"
  role = aws_iam_role.flow_logs[0].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow"
      Action = [
        "logs:CreateLogStream",
        "logs:DescribeLogGroups",
        "logs:DescribeLogStreams",
        "logs:PutLogEvents",
      ]
      Resource = ["${local.flow_log_group_arn}:*"]
    }]
  })
}
