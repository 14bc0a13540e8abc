# As many producers as the rules of a security group take.
bucket    = { arn = "arn:aws:s3:::penstock-rejected", name = "penstock-rejected" }
platform  = local.platform
producers = { for n in range(58) : "producer-${n}" => { function = "penstock-producer-${n}", registry = { url = "glue://penstock?region=eu-central-1&tag.team=data" }, schema = "sensor-${n}", version_budget = 100 } }
