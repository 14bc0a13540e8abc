# Without what the root needs of them: a VPC of others would be a change of the root.
output "values" {
  description = "The quotas of the account that the plan has read, by name."
  value       = { for name, quota in local.quotas : name => quota.value }

  precondition {
    condition     = alltrue([for quota in values(local.quotas) : quota.value >= quota.needed])
    error_message = "The account's quotas are too small. ${join(". ", [for quota in values(local.quotas) : quota.told if quota.value < quota.needed])}."
  }
}
