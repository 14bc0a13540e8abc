output "topic_arn" {
  description = "The SNS topic that all alarms are published to, when they start and when they end."
  value       = module.topic.arn
}
