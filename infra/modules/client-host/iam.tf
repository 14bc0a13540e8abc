data "aws_partition" "this" {}

resource "aws_iam_role" "this" {
  name        = var.name
  description = "The client host ${var.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

resource "aws_iam_instance_profile" "this" {
  name = var.name
  role = aws_iam_role.this.name
}

# The part of AmazonSSMManagedInstanceCore that sessions need. IAM cannot narrow the channels to a resource.
resource "aws_iam_role_policy" "session" {
  name = "session"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "RegisterItself"
        Effect   = "Allow"
        Action   = ["ssm:UpdateInstanceInformation"]
        Resource = ["arn:${data.aws_partition.this.partition}:ec2:${var.region}:${var.account_id}:instance/*"]
      },
      {
        Sid    = "HoldSessions"
        Effect = "Allow"
        Action = [
          "ssmmessages:CreateControlChannel",
          "ssmmessages:CreateDataChannel",
          "ssmmessages:OpenControlChannel",
          "ssmmessages:OpenDataChannel",
        ]
        Resource = ["*"]
      },
    ]
  })
}

resource "aws_iam_role_policy" "packages" {
  count = var.host.packages_bucket == null ? 0 : 1

  name = "packages"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "ReadPackages"
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = ["arn:${data.aws_partition.this.partition}:s3:::${var.host.packages_bucket}/*"]
    }]
  })
}
