# Alarms for a connector that stops, and for the database, whose replication slot retains the log meanwhile.
locals {
  _watched   = trimprefix(local.name, "${var.platform.prefix}-") # the module puts the prefix before its names
  _connector = { ConnectorName = local.name }
  _instance  = { DBInstanceIdentifier = coalesce(local.identifier, "none") }

  connector_alarms = {
    "${local._watched}-failed" = {
      description = "A task of the connector ${local.name} has failed; read /aws/mskconnect/${local.name}. See docs/cdc.md#when-it-stops."
      namespace   = "AWS/KafkaConnect", metric = "ErroredTaskCount", statistic = "Maximum", dimensions = local._connector
    }
    "${local._watched}-stopped" = {
      description = "The connector ${local.name} has no running task, or is gone (insufficient data), so the database keeps its log; look at its state in MSK Connect. See docs/cdc.md#when-it-stops."
      namespace   = "AWS/KafkaConnect", metric = "RunningTaskCount", statistic = "Maximum", dimensions = local._connector
      comparison  = "LessThanThreshold", threshold = 1, periods = 2, missing = "missing", silence = true
    }
  }
  database_alarms = {
    "${local._watched}-retained-log" = {
      description = "The replication slot ${local._slot} is behind by more than ${var.alarms.retained_gib} GiB of log; start the connector, or drop a slot that nobody reads, before the disk is full. See docs/cdc.md#when-it-stops."
      namespace   = "AWS/RDS", metric = "OldestReplicationSlotLag", statistic = "Maximum", dimensions = local._instance
      threshold   = var.alarms.retained_gib * pow(1024, 3)
    }
    "${local._watched}-free-storage" = {
      description = "The database of ${local.name} has less than ${var.alarms.free_gib} GiB of free storage; look at the metric TransactionLogsDiskUsage first, then at the tables. See docs/cdc.md#when-it-stops."
      namespace   = "AWS/RDS", metric = "FreeStorageSpace", statistic = "Minimum", dimensions = local._instance
      comparison  = "LessThanThreshold", threshold = var.alarms.free_gib * pow(1024, 3)
    }
  }
}

module "alarms" {
  source = "../../modules/metric-alarms"

  prefix    = var.platform.prefix
  topic_arn = var.platform.alarms.topic_arn
  alarms = merge(
    { for name, alarm in local.connector_alarms : name => alarm if var.prepared },
    { for name, alarm in local.database_alarms : name => alarm if local.identifier != null },
  )
}
