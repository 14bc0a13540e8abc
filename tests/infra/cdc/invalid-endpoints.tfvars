# The root has no endpoint for what the worker reads.
database = { name = "films", instance = {} }
name     = "films"
platform = merge(local.platform, { network = merge(local.platform.network, { interface_endpoints = ["glue"] }) })
plugin   = "../../tests/data/tiny.zip"
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
