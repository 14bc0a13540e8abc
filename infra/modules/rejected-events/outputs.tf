output "bucket" {
  description = "The bucket's name and ARN."
  value       = { name = module.bucket.name, arn = module.bucket.arn }
}

output "writer_policy_json" {
  description = "An IAM policy that allows to put events here, and nothing else."
  value = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "PutRejectedEvents"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = ["${module.bucket.arn}/*"]
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
  })
}
