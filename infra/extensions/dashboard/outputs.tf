output "name" {
  description = "The dashboard's name."
  value       = aws_cloudwatch_dashboard.this.dashboard_name
}
