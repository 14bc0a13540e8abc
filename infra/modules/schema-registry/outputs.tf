output "consumers" {
  description = "By consumer: the reader role for its programs, the hand-over role for its Terraform, and the external id that both require."
  value = {
    for name, consumer in var.consumers : name => {
      external_id        = consumer.external_id
      hand_over_role_arn = "arn:${data.aws_partition.this.partition}:iam::${var.account_id}:role/${aws_iam_role.hand_over[name].name}"
      reader_role_arn    = "arn:${data.aws_partition.this.partition}:iam::${var.account_id}:role/${aws_iam_role.reader[name].name}"
    }
  }
  depends_on = [aws_iam_role_policy.connections, aws_iam_role_policy.password, aws_iam_role_policy.reader]
}

output "registry" {
  description = "The registry's name and ARN."
  value = {
    # Built from known parts, so that a plan shows the policies that contain it.
    arn  = "arn:${data.aws_partition.this.partition}:glue:${var.region}:${var.account_id}:registry/${aws_glue_registry.this.registry_name}"
    name = aws_glue_registry.this.registry_name
  }
}
