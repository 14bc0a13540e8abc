database = { name = "films", endpoint_service = "com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef0", instance = {} }
name     = "films"
platform = local.platform
plugin   = "../../tests/data/tiny.zip"
registry = { cidr = "10.9.0.0/24", glue = "penstock", url = "https://apicurio.example.com", security_group_id = "sg-registry" }
tables   = ["public.film"]
