# A database that exists, and is not prepared yet.
database = { name = "films", existing = { host = "db.example.com", security_group_id = "sg-database" } }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
