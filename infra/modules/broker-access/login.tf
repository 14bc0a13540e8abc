# The SCRAM logins of the consumer's programs, copied into this account, so that each program can be allowed to read its own.
# They pass through neither plan nor state. A secret for a client certificate stays empty here: whoever has the certificate
# issued puts it there, with its private key.
locals {
  # That of commands.
  command_program = contains(keys(var.contract.programs), "clients") ? "clients" : keys(var.contract.programs)[0]
  command         = var.contract.programs[local.command_program]

  users = { for name, program in var.contract.programs : name => program if program.certificate == null }
}

ephemeral "aws_secretsmanager_secret_version" "producer" {
  for_each = local.users
  provider = aws.producer

  secret_id = each.value.secret_arn
}

resource "aws_secretsmanager_secret" "login" {
  # checkov:skip=CKV2_AWS_57: it is rotated by the producer and follows the contract's number, or is a certificate
  for_each = var.contract.programs

  # The program is not the end, for Secrets Manager takes a dash and six characters there for the suffix of an ARN.
  name                    = "${var.prefix}-${each.key}-broker-login"
  description             = "${each.value.certificate == null ? "SCRAM login" : "Client certificate"} of ${each.key} at ${var.contract.cluster.name}"
  kms_key_id              = module.login_key.arn
  recovery_window_in_days = var.retention.secret_recovery_days

  lifecycle {
    # A login that is renamed is there before its program is told of it, and goes after that.
    create_before_destroy = true
  }
}

resource "aws_secretsmanager_secret_version" "login" {
  for_each = local.users

  secret_id        = aws_secretsmanager_secret.login[each.key].id
  secret_string_wo = ephemeral.aws_secretsmanager_secret_version.producer[each.key].secret_string
  # Terraform cannot see a change of the value. A rotation shows it, and so does another secret, as of a program that was removed
  # and is there again. A restored secret has its old ARN: docs/operate/upgrades.md#after-another-password.
  secret_string_wo_version = parseint(substr(sha256("${each.value.secret_arn} ${each.value.rotation}"), 0, 8), 16)
}

module "login_key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-broker-login"
  deletion_days = var.retention.key_deletion_days
  description   = "${var.prefix}: the logins to the brokers"
}
