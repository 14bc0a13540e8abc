output "names" {
  description = "The names of the functions and of their schedules."
  value       = [for name in keys(var.joins) : "${var.platform.prefix}-retry-${name}"]
}
