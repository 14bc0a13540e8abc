# The consumer's SCRAM login, copied into this account, so that its functions and jobs can be allowed
# to read it. It passes through neither plan nor state.
ephemeral "aws_secretsmanager_secret_version" "producer" {
  provider = aws.producer

  secret_id = var.contract.hand_over.secret_arn
}

resource "aws_secretsmanager_secret" "login" {
  # checkov:skip=CKV2_AWS_57: it is rotated by the producer and follows the contract's number
  name                    = "${var.prefix}-broker-login"
  description             = "SCRAM login of ${var.contract.hand_over.username} at ${var.contract.cluster.name}"
  kms_key_id              = module.login_key.arn
  recovery_window_in_days = var.retention.secret_recovery_days
}

resource "aws_secretsmanager_secret_version" "login" {
  secret_id        = aws_secretsmanager_secret.login.id
  secret_string_wo = ephemeral.aws_secretsmanager_secret_version.producer.secret_string
  # Terraform cannot see a change of the value; the number in the contract shows it.
  secret_string_wo_version = var.contract.hand_over.rotation
}

module "login_key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = "${var.prefix}-broker-login"
  deletion_days = var.retention.key_deletion_days
  description   = "${var.prefix}: the login to the brokers"
}
