# A database of another account.
database = { name = "films", endpoint_service = "com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef0" }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
prepared = true
registry = { url = "https://apicurio.example.com", cidr = "10.9.0.0/24" }
tables   = ["public.film"]
