# What was part of this root and is an extension now (infra/extensions): its resources stay, if extensions.tf calls the
# extension by the name of its folder. Terraform has no patterns: alarms of tables besides readings are moved by blocks in
# extensions.tf (extensions.tf.example). A function is moved by its resources: it may be older than the count of `work`.

# quality
moved {
  from = module.quality["quality"].aws_cloudwatch_log_group.this
  to   = module.quality.module.function.module.function.aws_cloudwatch_log_group.this
}
moved {
  from = module.quality["quality"].aws_iam_role.this
  to   = module.quality.module.function.module.function.aws_iam_role.this
}
moved {
  from = module.quality["quality"].aws_iam_role_policy.runtime
  to   = module.quality.module.function.module.function.aws_iam_role_policy.runtime
}
moved {
  from = module.quality["quality"].aws_lambda_function.this
  to   = module.quality.module.function.module.function.aws_lambda_function.this
}
moved {
  from = module.quality["quality"].aws_security_group.this
  to   = module.quality.module.function.module.function.aws_security_group.this
}
moved {
  from = module.quality["quality"].aws_vpc_security_group_egress_rule.this
  to   = module.quality.module.function.module.function.aws_vpc_security_group_egress_rule.this
}
moved {
  from = module.quality["quality"].module.long_policy
  to   = module.quality.module.function.module.function.module.long_policy
}
moved {
  from = module.quality["quality"].aws_iam_role_policy.work
  to   = module.quality["quality"].aws_iam_role_policy.work[0]
}
moved {
  from = module.quality["quality"].aws_iam_role_policy.work[0]
  to   = module.quality.module.function.module.function.aws_iam_role_policy.work[0]
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
  from = module.sync["sync"].aws_cloudwatch_log_group.this
  to   = module.sync.module.function.module.function.aws_cloudwatch_log_group.this
}
moved {
  from = module.sync["sync"].aws_iam_role.this
  to   = module.sync.module.function.module.function.aws_iam_role.this
}
moved {
  from = module.sync["sync"].aws_iam_role_policy.runtime
  to   = module.sync.module.function.module.function.aws_iam_role_policy.runtime
}
moved {
  from = module.sync["sync"].aws_lambda_function.this
  to   = module.sync.module.function.module.function.aws_lambda_function.this
}
moved {
  from = module.sync["sync"].aws_security_group.this
  to   = module.sync.module.function.module.function.aws_security_group.this
}
moved {
  from = module.sync["sync"].aws_vpc_security_group_egress_rule.this
  to   = module.sync.module.function.module.function.aws_vpc_security_group_egress_rule.this
}
moved {
  from = module.sync["sync"].module.long_policy
  to   = module.sync.module.function.module.function.module.long_policy
}
moved {
  from = module.sync["sync"].aws_iam_role_policy.work
  to   = module.sync["sync"].aws_iam_role_policy.work[0]
}
moved {
  from = module.sync["sync"].aws_iam_role_policy.work[0]
  to   = module.sync.module.function.module.function.aws_iam_role_policy.work[0]
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

# lake_formation
moved {
  from = module.lake_grants["lake"]
  to   = module.lake_formation
}

# plain_parquet
moved {
  from = module.parquet_crawler["parquet"]
  to   = module.plain_parquet
}
