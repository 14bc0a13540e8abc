output "names" {
  description = "The names of the managed policies."
  value       = [for policy in values(aws_iam_policy.this) : policy.name]

  precondition {
    condition     = length(local.documents) <= local.most_policies
    error_message = "The policies of ${var.role_name} fill ${length(local.documents)} managed policies, and a role takes ${local.most_policies}; divide its tables among several jobs or functions."
  }

  # Resources that depend on the names find the role with its permissions.
  depends_on = [aws_iam_role_policy_attachment.this]
}
