policies = {
  work = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "Use", Effect = "Allow", Action = ["kms:Decrypt"], Resource = "*", Condition = { StringEquals = { "kms:EncryptionContext:aws:s3:arn" = [for number in range(200) : "arn:aws:s3:::penstock-bucket-${number}"] } } }]
  })
}
role_name = "penstock-job-stage"
