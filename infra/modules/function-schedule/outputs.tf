output "group_name" {
  description = "The schedule's group, by which CloudWatch names its metrics."
  value       = aws_scheduler_schedule_group.this.name
}

output "name" {
  description = "The schedule's name."
  value       = aws_scheduler_schedule.this.name
}
