platform = local.platform
tables   = { errors = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-errors", due_index = "due", name = "penstock-analytics-errors" } }
