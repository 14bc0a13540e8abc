output "names" {
  description = "The names of the alarms."
  value       = values(aws_cloudwatch_metric_alarm.this)[*].alarm_name
}
