alarms            = { free_gib = 20, retained_gib = 10 }
database          = { name = "films", port = 5433, admins = { operators = "sg-operators" }, instance = { class = "db.m7g.large", max_slot_wal_gib = 30, storage_gib = 200, multi_az = false, deletion_protection = false } }
flatten           = true
heartbeat_seconds = 30
login             = { rotation = 2, username = "capture" }
mcu_count         = 2
name              = "films"
platform          = local.platform
plugin            = "../../tests/data/tiny.zip"
prepared          = true
registry          = { url = "http://apicurio.example.com:8080", security_group_id = "sg-registry" }
settings          = { "decimal.handling.mode" = "string" }
tables            = ["public.actor", "public.film"]
topics            = { partitions = 3, replicas = 2 }
