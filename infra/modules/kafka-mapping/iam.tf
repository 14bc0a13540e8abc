locals {
  # KMS knows who asks in whose name, so that the keys serve for nothing else.
  _services = "${var.region}.amazonaws.com"

  # The rights on network interfaces that change something come with the function's own role.
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "ReadItsPassword"
          Effect   = "Allow"
          Action   = ["secretsmanager:GetSecretValue"]
          Resource = [var.secret_arn]
        },
        {
          Sid       = "DecryptItsPassword"
          Effect    = "Allow"
          Action    = ["kms:Decrypt"]
          Resource  = [var.secret_key_arn]
          Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${local._services}" } }
        },
        {
          Sid      = "SeeTheNetwork"
          Effect   = "Allow"
          Action   = ["ec2:DescribeSecurityGroups", "ec2:DescribeVpcs"]
          Resource = "*"
        },
        {
          Sid      = "FindTheFailureBucket"
          Effect   = "Allow"
          Action   = ["s3:ListBucket"]
          Resource = [var.failure_bucket_arn]
        },
        {
          # Lambda writes below this path and no other.
          Sid      = "KeepFailedBatches"
          Effect   = "Allow"
          Action   = ["s3:PutObject"]
          Resource = ["${var.failure_bucket_arn}/aws/lambda/*"]
        },
      ],
      var.failure_bucket_key_arn == null ? [] : [{
        Sid       = "EncryptFailedBatches"
        Effect    = "Allow"
        Action    = ["kms:GenerateDataKey"]
        Resource  = [var.failure_bucket_key_arn]
        Condition = { StringEquals = { "kms:ViaService" = "s3.${local._services}" } }
      }],
    )
  })
}
