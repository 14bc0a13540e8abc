output "bucket" {
  description = "The bucket's name and ARN."
  value       = { name = module.bucket.name, arn = module.bucket.arn }
}

output "writer_policies" {
  description = "An IAM policy for each function, which allows it to put events under its own name, and Lambda to put those on which it failed."
  value = { for function in var.functions : function => jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "PutRejectedEvents"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = ["${module.bucket.arn}/${function}/*", "${module.bucket.arn}/${local.failures_prefix}async/${function}/*"]
      },
      {
        # Lambda asks for it before it takes the bucket as a destination.
        Sid      = "FindTheBucket"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [module.bucket.arn]
      },
      {
        Sid       = "KeepListsFromItsCode"
        Effect    = "Deny"
        Action    = ["s3:ListBucket"]
        Resource  = [module.bucket.arn]
        Condition = { ArnEquals = { "lambda:SourceFunctionArn" = "arn:${data.aws_partition.this.partition}:lambda:${var.region}:${var.account_id}:function:${function}" } }
      },
      {
        # By what the key is used for, since its id is not known before it is created.
        Sid      = "EncryptRejectedEvents"
        Effect   = "Allow"
        Action   = ["kms:GenerateDataKey"]
        Resource = [local.keys_arn]
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:aws:s3:arn" = module.bucket.arn
            "kms:ViaService"                   = "s3.${var.region}.amazonaws.com"
          }
        }
      },
    ]
  }) }
}
