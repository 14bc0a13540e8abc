output "jobs" {
  description = "The tables of each job: those in DynamoDB and in the lake, the dead-letter table, and of a plan its tables, their keys, its final tables and the one whose rows wait."
  value       = local.jobs

  precondition {
    # Tables are merged by name.
    condition     = length(distinct(local.names)) == length(local.names)
    error_message = "The plans have the tables ${jsonencode({ for name, job in local.jobs : name => job.names if length(job.names) > 0 })}, the others are ${join(", ", local.other_names)}; give each table of a plan a name that nothing else has."
  }
}
