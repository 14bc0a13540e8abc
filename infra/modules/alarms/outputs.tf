output "topic_arn" {
  description = "The topic that all alarms, and their ends, are sent to."
  value       = module.topic.arn
}
