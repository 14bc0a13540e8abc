# The SCRAM logins of the consumer's programs, copied into this account, so that each program can be allowed to read its own.
# They pass through neither plan nor state.
ephemeral "aws_secretsmanager_secret_version" "producer" {
  for_each = var.contract.programs
  provider = aws.producer

  secret_id = each.value.secret_arn
}

resource "aws_secretsmanager_secret" "login" {
  # checkov:skip=CKV2_AWS_57: it is rotated by the producer and follows the contract's number
  for_each = var.contract.programs

  # The program is not the end, for Secrets Manager takes a dash and six characters there for the suffix of an ARN.
  name                    = "${var.prefix}-${each.key}-broker-login"
  description             = "SCRAM login of ${each.key} at ${var.contract.cluster.name}"
  kms_key_id              = module.login_key.arn
  recovery_window_in_days = var.retention.secret_recovery_days

  lifecycle {
    # A login that is renamed is there before its program is told of it, and goes after that.
    create_before_destroy = true
  }
}

resource "aws_secretsmanager_secret_version" "login" {
  for_each = var.contract.programs

  secret_id        = aws_secretsmanager_secret.login[each.key].id
  secret_string_wo = ephemeral.aws_secretsmanager_secret_version.producer[each.key].secret_string
  # Terraform cannot see a change of the value; the number in the contract shows it.
  secret_string_wo_version = each.value.rotation
}

# When all programs shared a login.
moved {
  from = aws_secretsmanager_secret.login
  to   = aws_secretsmanager_secret.login["functions"]
}
moved {
  from = aws_secretsmanager_secret_version.login
  to   = aws_secretsmanager_secret_version.login["functions"]
}

module "login_key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-broker-login"
  deletion_days = var.retention.key_deletion_days
  description   = "${var.prefix}: the logins to the brokers"
}
