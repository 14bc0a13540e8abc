# Two policies with the same Sids: their statements are cut, packed, and told apart.
policies = {
  work-a = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "Write", Effect = "Allow", Action = ["dynamodb:PutItem"], Resource = [for number in range(110) : "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-a-${number}"] },
      { Sid = "Use", Effect = "Allow", Action = ["kms:Decrypt"], Resource = "*", Condition = { StringEquals = { "kms:ViaService" = "s3.eu-central-1.amazonaws.com" } } },
    ]
  })
  work-b = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "Write", Effect = "Allow", Action = ["dynamodb:PutItem"], Resource = ["arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-b"] }]
  })
}
role_name = "penstock-job-stage"
