database          = { name = "films", instance = { max_slot_wal_gib = 20, storage_gib = 20 } }
heartbeat_seconds = 0
mcu_count         = 3
name              = "Films"
platform          = local.platform
plugin            = "../../tests/data/tiny.zip"
registry          = { url = "apicurio.example.com/apis" }
settings          = { "database.server.name" = "films", "delete.handling.mode" = "rewrite", "driver.region" = "eu-west-1", "slot.name" = "mine", "transforms.unwrap.delete.handling.mode" = "rewrite" }
tables            = ["film"]
