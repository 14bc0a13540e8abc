# Schemas in Glue.
database = { name = "films", existing = { host = "db.example.com", security_group_id = "sg-database" } }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
prepared = true
registry = { glue = "penstock" }
tables   = ["public.film"]
