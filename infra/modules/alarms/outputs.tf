output "topic_arn" {
  description = "The topic that all alarms, and their ends, are sent to."
  value       = local.topic_arn

  depends_on = [aws_sns_topic_policy.this]
}
