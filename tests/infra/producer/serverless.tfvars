# Policy fixed, on a serverless cluster: the registry, the schema and the topic have names that the user chose.
account_id = "111111111111"
region     = "eu-central-1"
cluster    = { type = "serverless" }
network    = { zone_ids = ["euc1-az1", "euc1-az2"] }
producers = {
  other    = { topic = "test-2", schema = "test_payload_schema", policy = "fixed" }
  producer = { topic = "test", schema = "test_payload_schema", policy = "fixed", key = ["id"], event_time = "none" }
}
registry = "test-schema-registry"
topics   = { test = { properties = { "retention.ms" = "3600000" } }, "test-2" = { properties = { "message.timestamp.type" = "CreateTime" } } }
