# The settings of the connector and of its worker.
locals {
  # Names of Debezium 1.x, which today's version ignores without a word, or answers with a null pointer.
  renamed = {
    "column.blacklist"                       = "column.exclude.list"
    "column.whitelist"                       = "column.include.list"
    "database.server.name"                   = "topic.prefix, the input name"
    "sanitize.field.names"                   = "field.name.adjustment.mode"
    "schema.blacklist"                       = "schema.exclude.list"
    "schema.whitelist"                       = "schema.include.list"
    "slot.drop_on_stop"                      = "slot.drop.on.stop"
    "table.blacklist"                        = "table.exclude.list"
    "table.whitelist"                        = "table.include.list, the input tables"
    "toasted.value.placeholder"              = "unavailable.value.placeholder"
    "delete.handling.mode"                   = "transforms.unwrap.delete.tombstone.handling.mode"
    "drop.tombstones"                        = "transforms.unwrap.delete.tombstone.handling.mode"
    "transforms.unwrap.delete.handling.mode" = "transforms.unwrap.delete.tombstone.handling.mode"
    "transforms.unwrap.drop.tombstones"      = "transforms.unwrap.delete.tombstone.handling.mode"
    "transforms.unwrap.operation.header"     = "transforms.unwrap.add.headers"
    "transforms.unwrap.add.source.fields"    = "transforms.unwrap.add.fields"
  }
  written = [
    "connector.class", "database.dbname", "database.hostname", "database.password", "database.port", "database.user",
    "driver.authenticationPluginClassName", "driver.region", "driver.secret", "heartbeat.interval.ms", "plugin.name", "publication.name", "slot.name", "table.include.list", "tasks.max", "topic.prefix", "transforms",
  ]

  _publication = "${var.name}_publication"
  _slot        = "${var.name}_slot"
  _apicurio = {
    ""                                 = "io.apicurio.registry.utils.converter.AvroConverter"
    ".apicurio.registry.url"           = "${coalesce(var.registry.url, "none")}/apis/registry/v2"
    ".apicurio.registry.auto-register" = "true"
    ".apicurio.registry.find-latest"   = "true"
  }
  _glue = {
    ""                = "com.amazonaws.services.schemaregistry.kafkaconnect.AWSKafkaAvroConverter"
    ".avroRecordType" = "GENERIC_RECORD"
    # The database has made the change already: a version that Glue refuses would stop the capture.
    ".compatibility"                 = "NONE"
    ".dataFormat"                    = "AVRO"
    ".region"                        = var.platform.region
    ".registry.name"                 = var.registry.glue
    ".schemaAutoRegistrationEnabled" = "true"
    ".schemaNameGenerationClass"     = "penstock.connect.KeyAndValueNames"
  }
  _converter = local.by_glue ? tomap(local._glue) : tomap(local._apicurio)
  _flattening = {
    "transforms"                                       = "unwrap"
    "transforms.unwrap.type"                           = "io.debezium.transforms.ExtractNewRecordState"
    "transforms.unwrap.add.fields"                     = "op,db,schema,table,lsn,source.ts_ms,source.snapshot,source.sequence"
    "transforms.unwrap.delete.tombstone.handling.mode" = "rewrite-with-tombstone"
  }

  connector = merge(
    {
      "connector.class"   = "io.debezium.connector.postgresql.PostgresConnector"
      "tasks.max"         = "1"
      "topic.prefix"      = var.name
      "database.hostname" = local.database.host
      "database.port"     = tostring(local.database.port)
      "database.dbname"   = var.database.name
      "database.user"     = var.login.username
      "database.sslmode"  = "require"
      # Each login reads the password, which is in no configuration and no log. A worker has no region of its own.
      "driver.authenticationPluginClassName" = "penstock.connect.SecretPassword"
      "driver.secret"                        = local.secret_name
      "driver.region"                        = var.platform.region
      "plugin.name"                          = "pgoutput"
      "publication.name"                     = local._publication
      "publication.autocreate.mode"          = "disabled"
      "slot.name"                            = local._slot
      "table.include.list"                   = join(",", sort(tolist(var.tables)))
      # A TRUNCATE must reach the tables of jobs/cdc.py.
      "skipped.operations" = "none"
      # It writes to the log of this database, so that the slot moves on while others of the server change.
      "heartbeat.interval.ms"                     = tostring(var.heartbeat_seconds * 1000)
      "heartbeat.action.query"                    = "SELECT pg_logical_emit_message(false, 'heartbeat', now()::text)"
      "message.prefix.exclude.list"               = "heartbeat"
      "schema.name.adjustment.mode"               = "avro"
      "field.name.adjustment.mode"                = "avro"
      "topic.creation.default.partitions"         = tostring(var.topics.partitions)
      "topic.creation.default.replication.factor" = tostring(var.topics.replicas)
    },
    { for setting, value in local._converter : "key.converter${setting}" => value },
    { for setting, value in local._converter : "value.converter${setting}" => value },
    { for setting, value in local._flattening : setting => value if var.flatten },
    var.settings,
  )

  # Its offsets have a topic of their own name: a connector that is created again goes on, instead of snapshotting again.
  _offsets_topic = "__amazon_msk_connect_offsets_${local.name}"
  worker = {
    "key.converter"            = "org.apache.kafka.connect.storage.StringConverter"
    "value.converter"          = "org.apache.kafka.connect.storage.StringConverter"
    "offset.flush.interval.ms" = "10000"
    "offset.storage.topic"     = local._offsets_topic
  }

  _schemas = distinct([for table in sort(tolist(var.tables)) : split(".", table)[0]])

  # As the master, by psql -v password=..., once the tables exist.
  setup_sql = <<-SQL
    CREATE ROLE ${var.login.username} LOGIN PASSWORD :'password';
    GRANT rds_replication TO ${var.login.username};
    GRANT USAGE ON SCHEMA ${join(", ", local._schemas)} TO ${var.login.username};
    GRANT SELECT ON ${join(", ", sort(tolist(var.tables)))} TO ${var.login.username};
    CREATE PUBLICATION ${local._publication} FOR TABLE ${join(", ", sort(tolist(var.tables)))};
  SQL
}
