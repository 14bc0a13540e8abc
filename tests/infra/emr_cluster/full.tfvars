platform = local.platform
cluster  = { concurrent_steps = 2, core_nodes = 3 }
jobs     = ["consume", "figures"]
jobs_of_others = { figures = {
  lake            = { database = ["DESCRIBE"], tables = ["DESCRIBE", "SELECT"] }
  parameters_path = "/penstock-analytics/figures"
  policies        = { figures = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "KeepItsFiles", Effect = "Allow", Action = ["s3:PutObject"], Resource = ["arn:aws:s3:::penstock-analytics-lake/figures/*"] }] }) }
  runs            = { figures-totals = { arguments = ["totals"], program = "s3://artifacts/jobs/figures.py", role = "figures" } }
} }
