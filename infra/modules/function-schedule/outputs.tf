output "name" {
  description = "The name of the schedule and of its group, by which CloudWatch names its metrics."
  value       = module.schedule.name
}
