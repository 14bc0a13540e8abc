output "bucket" {
  description = "The bucket's name and ARN."
  value       = { name = module.bucket.name, arn = module.bucket.arn }
}

output "writer_policies" {
  description = "An IAM policy for each function, which allows it to put events under its own name, and nothing else."
  value = { for function in var.functions : function => jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "PutRejectedEvents"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = ["${module.bucket.arn}/${function}/*"]
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
