locals {
  _partition = data.aws_partition.this.partition
  _place     = "${var.region}:${var.account_id}"

  dead_letters_arn = "arn:${local._partition}:sqs:${local._place}:${var.name}-dead-letters"
  function_arn     = "arn:${local._partition}:lambda:${local._place}:function:${var.name}"
  logs_arn         = "arn:${local._partition}:logs:${local._place}:log-group:/aws/lambda/${var.name}:*"

  # Lambda requires these of the role of every function in a VPC; none can be narrowed by resource.
  interface_actions = [
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
  ]

  # Inline policies have 10,240 characters together, and the role may get others, such as a mapping's.
  is_long = length(var.policy_json) > 6000
}

data "aws_partition" "this" {}

resource "aws_iam_role" "this" {
  name        = var.name
  description = "What the function ${var.name} may do"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  permissions_boundary = var.permissions_boundary
}

# The permissions of every function here.
resource "aws_iam_role_policy" "runtime" {
  # checkov:skip=CKV_AWS_290: EC2 and X-Ray allow no resource for these actions
  # checkov:skip=CKV_AWS_355: EC2 and X-Ray allow no resource for these actions
  name = "runtime"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "WriteItsOwnLog"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
          Resource = local.logs_arn
        },
        {
          Sid      = "LiveInTheVpc"
          Effect   = "Allow"
          Action   = local.interface_actions
          Resource = "*"
        },
        {
          # Only Lambda manages the interfaces: the function's own code must not.
          Sid       = "KeepInterfacesFromItsCode"
          Effect    = "Deny"
          Action    = local.interface_actions
          Resource  = "*"
          Condition = { ArnEquals = { "lambda:SourceFunctionArn" = local.function_arn } }
        },
      ],
      !var.tracing ? [] : [{
        Sid      = "SendTraces"
        Effect   = "Allow"
        Action   = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
        Resource = "*"
      }],
      var.dead_letters == null ? [] : [{
        Sid      = "KeepFailedEvents"
        Effect   = "Allow"
        Action   = ["sqs:SendMessage"]
        Resource = local.dead_letters_arn
      }],
    )
  })
}

# The permissions of this function.
resource "aws_iam_role_policy" "work" {
  count = local.is_long ? 0 : 1

  name   = "work"
  role   = aws_iam_role.this.name
  policy = var.policy_json
}

module "long_policy" {
  source = "../long-policy"
  count  = local.is_long ? 1 : 0

  policies  = { work = var.policy_json }
  role_name = aws_iam_role.this.name
}
