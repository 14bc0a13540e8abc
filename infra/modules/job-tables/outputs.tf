output "jobs" {
  description = "The tables of each job: those in DynamoDB and in the lake, the dead-letter table, and of a plan the keys of its tables, its final tables and the one whose rows wait."
  value       = local.jobs
}
