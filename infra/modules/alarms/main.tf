# One topic, and the alarms of the platform: a table in alarms.tf, each with what to do.
locals {
  alarms_arn   = "arn:${data.aws_partition.this.partition}:cloudwatch:${var.region}:${var.account_id}:alarm:${var.prefix}-*"
  services_arn = "arn:${data.aws_partition.this.partition}:ec2:${var.region}:${var.account_id}:vpc-endpoint-service/*"
}

data "aws_partition" "this" {}

module "metrics" {
  source = "../metric-alarms"

  prefix    = var.prefix
  alarms    = local.alarms
  functions = var.functions
  schedules = try(var.spark.schedules, [])
  topic_arn = module.topic.arn
}

# The only alarm on two metrics: a broker's processor time is that of user and system.
resource "aws_cloudwatch_metric_alarm" "broker_cpu" {
  for_each = local.broker_ids

  alarm_name          = "${var.prefix}-broker-${each.key}-cpu"
  alarm_actions       = [module.topic.arn]
  alarm_description   = "Broker ${each.key} of ${var.cluster.name} is busy more than 60 % of the time, so it cannot take over for another; take a larger instance_type, or add brokers and spread the partitions. See docs/operate/alarms.md#brokers."
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  ok_actions          = [module.topic.arn]
  threshold           = 60
  treat_missing_data  = "missing"

  metric_query {
    id          = "busy"
    expression  = "user + system"
    label       = "Percent busy"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = { system = "CpuSystem", user = "CpuUser" }

    content {
      id = metric_query.key

      metric {
        dimensions  = { "Broker ID" = each.key, "Cluster Name" = var.cluster.name }
        metric_name = metric_query.value
        namespace   = "AWS/Kafka"
        period      = 300
        stat        = "Average"
      }
    }
  }
}

# A rejected endpoint has no metric of its own; a consumer's deploy role may reject those of others.
resource "aws_vpc_endpoint_connection_notification" "rejected" {
  for_each = var.endpoint_services

  connection_events           = ["Reject"]
  connection_notification_arn = module.topic.arn
  vpc_endpoint_service_id     = each.value

  lifecycle {
    precondition {
      condition     = contains(var.topic.publishers, "endpoint_services")
      error_message = "The topic lets no endpoint services publish; add \"endpoint_services\" to topic.publishers."
    }
  }
}

module "topic" {
  source = "../notice-topic"

  name        = "${var.prefix}-alarms"
  account_id  = var.account_id
  region      = var.region
  kms_key_arn = module.key.arn
  publishers = merge(
    { "cloudwatch.amazonaws.com" = { ArnLike = { "aws:SourceArn" = local.alarms_arn } } },
    # EventBridge publishes to no topic whose policy has conditions for it.
    contains(var.topic.publishers, "rules") ? { "events.amazonaws.com" = null } : {},
    !contains(var.topic.publishers, "endpoint_services") ? {} : {
      "vpce.amazonaws.com" = { ArnLike = { "aws:SourceArn" = local.services_arn } }
    },
  )
  subscribers = var.topic.subscribers
}

# ---------------------------------------------------------------------------------------------
# The topic's key: the AWS managed key for SNS would keep CloudWatch out
# ---------------------------------------------------------------------------------------------

module "key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-alarms"
  deletion_days = var.retention.key_deletion_days
  description   = "Alarms of ${var.prefix}"
  services = merge(
    {
      # Without conditions, as in AWS's example: a request of CloudWatch to KMS need not name its alarm.
      # The topic's policy decides whose alarms publish.
      LetTheAlarmsPublish = { service = "cloudwatch.amazonaws.com" }
    },
    # EventBridge sends no conditions that this policy could ask for.
    contains(var.topic.publishers, "rules") ? { LetTheRulesPublish = { service = "events.amazonaws.com" } } : {},
    contains(var.topic.publishers, "endpoint_services") ? { LetTheEndpointServicesPublish = { service = "vpce.amazonaws.com" } } : {},
  )
}
