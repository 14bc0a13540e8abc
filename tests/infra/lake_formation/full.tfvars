platform = local.platform
principals = { "function/sync" = { arn = terraform_data.later.output, database = ["DESCRIBE"], tables = ["ALTER", "DESCRIBE"] } }
analysts = {
  all    = { principals = ["arn:aws:iam::222222222222:role/team", "222222222222"], tables = null }
  german = { principals = ["arn:aws:iam::222222222222:role/de"], tables = { orders = { excluded_columns = ["email"], rows = "country = 'DE'" }, payments = { included_columns = ["amount"], rows = "amount > 10" }, shops = { excluded_columns = [], rows = "country = 'DE'" } } }
  some   = { principals = ["arn:aws:iam::222222222222:role/some"], tables = { orders = { included_columns = ["id", "country"], rows = null }, payments = { excluded_columns = ["card"], rows = null }, shops = { excluded_columns = [], rows = null } } }
}
readers              = ["arn:aws:iam::222222222222:role/reports"]
