platform = local.platform
jobs     = ["figures"]
jobs_of_others = { figures = {
  lake     = { database = [], tables = [] }
  policies = { figures = jsonencode({ Version = "2012-10-17", Statement = [] }) }
  runs     = { figures-totals = { arguments = ["totals"], program = "s3://artifacts/jobs/figures.py", role = "figures", schedule = "rate(1 day)" } }
} }
