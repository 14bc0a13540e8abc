# What was part of this root and is in another place now: its resources stay. Extensions (infra/extensions) keep theirs if
# extensions.tf calls them by the name of their folder. Terraform has no patterns: what has a name that a user gave is moved
# by blocks in extensions.tf (extensions.tf.example).

# quality
moved {
  from = module.quality["quality"]
  to   = module.quality
}
moved {
  from = module.quality_schedule["quality"]
  to   = module.quality.module.schedule
}
moved {
  from = module.spark["spark"].aws_s3_object.file["quality-tables.json"]
  to   = module.quality.module.function.aws_s3_object.settings[0]
}
moved {
  from = module.network.aws_vpc_endpoint.interface["athena"]
  to   = module.quality.aws_vpc_endpoint.athena[0]
}
moved {
  from = module.network.aws_vpc_security_group_ingress_rule.endpoints["consumer-quality"]
  to   = module.quality.module.function.aws_vpc_security_group_ingress_rule.this["endpoints"]
}
moved {
  from = module.broker_access.aws_vpc_security_group_ingress_rule.client["consumer-quality"]
  to   = module.quality.module.function.aws_vpc_security_group_ingress_rule.this["brokers"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["consumer-quality-errors"]
  to   = module.quality.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["consumer-quality-errors"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["consumer-quality-throttles"]
  to   = module.quality.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["consumer-quality-throttles"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["consumer-quality-dropped"]
  to   = module.quality.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["consumer-quality-dropped"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["readings-quality"]
  to   = module.quality.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["readings-quality"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["readings-quality-silent"]
  to   = module.quality.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["readings-quality-silent"]
}

# sync
moved {
  from = module.sync["sync"]
  to   = module.sync
}
moved {
  from = module.sync_schedule["sync"]
  to   = module.sync.module.schedule
}
moved {
  from = module.spark["spark"].aws_s3_object.file["sync-tables.json"]
  to   = module.sync.module.function.aws_s3_object.settings[0]
}
moved {
  from = module.network.aws_vpc_security_group_ingress_rule.endpoints["consumer-sync"]
  to   = module.sync.module.function.aws_vpc_security_group_ingress_rule.this["endpoints"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["consumer-sync-errors"]
  to   = module.sync.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["consumer-sync-errors"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["consumer-sync-throttles"]
  to   = module.sync.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["consumer-sync-throttles"]
}
moved {
  from = module.alarms.aws_cloudwatch_metric_alarm.this["consumer-sync-dropped"]
  to   = module.sync.module.function.module.alarms.aws_cloudwatch_metric_alarm.this["consumer-sync-dropped"]
}

# Others, as a whole
moved {
  from = module.lake_grants["lake"]
  to   = module.lake_formation
}
moved {
  from = module.parquet_crawler["parquet"]
  to   = module.plain_parquet
}
moved {
  from = module.client_host
  to   = module.clients.module.host
}
moved {
  from = module.consumer
  to   = module.consumer_functions.module.function
}
moved {
  from = module.kafka_client
  to   = module.clients.module.client
}
moved {
  from = module.kafka_mapping
  to   = module.consumer_functions.module.mapping
}
moved {
  from = module.retry
  to   = module.retries["spark"].module.function
}
moved {
  from = module.retry_schedule
  to   = module.retries["spark"].module.schedule
}

# emr_cluster
moved {
  from = module.emr["emr"]
  to   = module.emr_cluster.module.cluster
}
moved {
  from = module.network.aws_vpc_security_group_ingress_rule.endpoints["emr_cluster"]
  to   = module.emr_cluster.aws_vpc_security_group_ingress_rule.this["endpoints"]
}
moved {
  from = module.broker_access.aws_vpc_security_group_ingress_rule.client["emr_cluster"]
  to   = module.emr_cluster.aws_vpc_security_group_ingress_rule.this["brokers"]
}
moved {
  from = module.alarms.aws_cloudwatch_event_rule.ended["step-ended"]
  to   = module.emr_cluster.aws_cloudwatch_event_rule.this
}
moved {
  from = module.alarms.aws_cloudwatch_event_target.ended["step-ended"]
  to   = module.emr_cluster.aws_cloudwatch_event_target.this
}
moved {
  from = module.status
  to   = module.status["status"]
}
