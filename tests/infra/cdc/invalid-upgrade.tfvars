# The slot of a connector that runs stands in the way.
database = { name = "films", instance = { version = "16", major_upgrade = true } }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
prepared = true
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
