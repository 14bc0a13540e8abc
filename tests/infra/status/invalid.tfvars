platform  = local.platform
producers = { for n in range(100) : "producer-${n}" => { function = "penstock-producer-${n}", registry = { url = "glue://penstock?region=eu-central-1" }, schema = "sensor", version_budget = 100 } }
status    = { dead_letters = -1, kept_events = 10000, minutes = 61, versions_left = 0 }
