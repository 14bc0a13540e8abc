# Another major version, once the connector and its slot are gone.
database = { name = "films", instance = { version = "16.3", major_upgrade = true } }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
