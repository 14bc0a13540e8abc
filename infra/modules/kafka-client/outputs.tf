output "policy_arn" {
  description = "The policy to attach to the client's role."
  value       = aws_iam_policy.this.arn
}
