database = { name = "films", host = "db.example.com" }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
registry = { url = "https://apicurio.example.com" }
tables   = ["public.film"]
