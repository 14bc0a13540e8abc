prefix            = "Penstock"
account_id        = "22222222222"
region            = "Frankfurt"
cluster           = { name = "penstock-producer", broker_count = 0 }
endpoint_services = { "1" = "com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef1" }
retention         = { key_deletion_days = 6 }
schema_versions   = { namespace = "Penstock", metric = "SchemaVersions", budget = 1 }
subscribers       = ["ops"]
