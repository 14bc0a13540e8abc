# A rule that reads another variable.
alarms   = { retained_gib = 30 }
database = { name = "films", instance = {} }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
