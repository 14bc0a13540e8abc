output "arn" {
  description = "The topic's ARN, known at plan, available once its publishers have permission."
  value       = local.arn

  depends_on = [aws_sns_topic_policy.this]
}
