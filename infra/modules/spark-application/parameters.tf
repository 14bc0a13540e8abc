# Settings of runs that may change without another submit command.
resource "aws_ssm_parameter" "this" {
  # checkov:skip=CKV2_AWS_34: names and addresses; a secret is named by its ARN
  for_each = merge([
    for role, parameters in var.parameters : { for name, value in parameters : "${role}/${name}" => value }
  ]...)

  name           = "/${var.prefix}/${each.key}"
  type           = "String"
  insecure_value = each.value
}
