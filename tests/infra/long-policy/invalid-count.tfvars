policies = {
  work = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "Write", Effect = "Allow", Action = ["dynamodb:PutItem"], Resource = [for number in range(900) : "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-table-${number}"] }]
  })
}
role_name = "penstock-job-stage"
