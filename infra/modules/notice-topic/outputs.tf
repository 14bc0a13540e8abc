output "arn" {
  description = "The topic's ARN, known before it is made, and given once its publisher is let in."
  value       = local.arn

  depends_on = [aws_sns_topic_policy.this]
}
