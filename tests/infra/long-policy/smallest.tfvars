policies = {
  work = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "ReadItsPlan", Effect = "Allow", Action = ["s3:GetObject"], Resource = "arn:aws:s3:::artifacts/plan.json" }]
  })
}
role_name = "penstock-job-stage"
