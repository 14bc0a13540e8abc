output "role_arns" {
  description = "The execution roles, by name."
  value       = local.role_arns

  depends_on = [aws_iam_role.job, aws_iam_role_policy.runtime, aws_iam_role_policy.work, module.long_policy]
}

output "schedules" {
  description = "The names of the schedules of runs and of their groups."
  value       = values(module.schedule)[*].name
}

output "submit_commands" {
  description = "The submit command of each run, for a shell."
  value       = { for name, request in local.requests : name => templatefile("${path.module}/submit.tftpl", request) }

  depends_on = [aws_iam_role_policy.runtime, aws_iam_role_policy.work, aws_ssm_parameter.this, module.long_policy]

  precondition {
    condition     = local.needed.cpu <= local.maximum.cpu && local.needed.memory <= local.maximum.memory
    error_message = "The streaming runs, those of schedules and the largest other run need ${local.needed.cpu} vCPU and ${local.needed.memory} GB together, and the application's maximum is ${var.application.maximum.cpu} and ${var.application.maximum.memory}; lower max_executors of a run, or raise the maximum, and the account's quota (16 vCPU) with it."
  }
}
