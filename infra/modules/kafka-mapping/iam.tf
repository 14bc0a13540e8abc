locals {
  _partition = data.aws_partition.this.partition
  _place     = "${var.region}:${var.account_id}"

  _function_arn = "arn:${local._partition}:lambda:${local._place}:function:${var.function.name}"
  # Lambda writes below this path and no other.
  _failures_arns = formatlist("%s/aws/lambda/*", var.failure_bucket_arn[*])
  # By what the keys are used for, since their ids are not known before they are created.
  _keys_arn = "arn:${local._partition}:kms:${local._place}:key/*"
  # Secrets Manager appends a dash and six characters to an ARN.
  _secret_arn = "arn:${local._partition}:secretsmanager:${local._place}:secret:${var.secret.name}-??????"

  _failures = [for statement in [
    {
      Sid      = "FindTheFailureBucket"
      Effect   = "Allow"
      Action   = ["s3:ListBucket"]
      Resource = [var.failure_bucket_arn]
    },
    {
      Sid      = "KeepFailedBatches"
      Effect   = "Allow"
      Action   = ["s3:PutObject"]
      Resource = local._failures_arns
    },
    {
      Sid      = "EncryptFailedBatches"
      Effect   = "Allow"
      Action   = ["kms:GenerateDataKey"]
      Resource = [local._keys_arn]
      Condition = {
        StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = var.failure_bucket_arn
          "kms:ViaService"                   = "s3.${var.region}.amazonaws.com"
        }
      }
    },
  ] : statement if var.failure_bucket_arn != null]

  # The function's own role has the permissions that change network interfaces.
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "ReadItsPassword"
          Effect   = "Allow"
          Action   = ["secretsmanager:GetSecretValue"]
          Resource = [local._secret_arn]
        },
        {
          Sid      = "DecryptItsPassword"
          Effect   = "Allow"
          Action   = ["kms:Decrypt"]
          Resource = [local._keys_arn]
          Condition = {
            StringEquals = { "kms:ViaService" = "secretsmanager.${var.region}.amazonaws.com" }
            StringLike   = { "kms:EncryptionContext:SecretARN" = local._secret_arn }
          }
        },
        {
          Sid      = "SeeTheNetwork"
          Effect   = "Allow"
          Action   = ["ec2:DescribeSecurityGroups", "ec2:DescribeVpcs"]
          Resource = "*"
        },
      ],
      local._failures,
      [
        {
          # Only for the pollers, whose calls do not have this key: the function's own code can neither read
          # the password nor write a failed batch.
          Sid       = "KeepPollersPartFromItsCode"
          Effect    = "Deny"
          Action    = ["s3:PutObject", "secretsmanager:GetSecretValue"]
          Resource  = concat(local._failures_arns, [local._secret_arn])
          Condition = { ArnEquals = { "lambda:SourceFunctionArn" = local._function_arn } }
        },
      ],
    )
  })
}

data "aws_partition" "this" {}
