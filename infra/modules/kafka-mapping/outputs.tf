output "mappings" {
  description = "The UUID of each topic's mapping."
  value       = { for topic, mapping in aws_lambda_event_source_mapping.this : topic => mapping.uuid }
}
