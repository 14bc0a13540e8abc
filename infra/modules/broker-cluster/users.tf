# One SCRAM user per consumer. The password is in Secrets Manager and the brokers, never in a plan or state: each run draws
# one, discards it, and writes it only if the rotation number has changed.

ephemeral "aws_secretsmanager_random_password" "user" {
  for_each = var.users

  exclude_punctuation = true
  password_length     = 32
}

# MSK rejects a secret under the account's default key, and a consumer's hand-over role must decrypt.
module "users_key" {
  source = "../customer-key"
  count  = local.is_provisioned ? 1 : 0

  account_id    = var.account_id
  alias         = "${var.prefix}-users"
  deletion_days = var.retention.key_deletion_days
  description   = "Passwords of the Kafka users of ${local.name}"
}

resource "aws_secretsmanager_secret" "user" {
  #checkov:skip=CKV2_AWS_57:A rotation by itself would lock the consumer out, whose account holds a copy; it follows `rotation`
  for_each = var.users

  name                    = "AmazonMSK_${var.prefix}_${each.key}"
  description             = "Kafka user of the consumer ${each.key}"
  kms_key_id              = module.users_key[0].arn
  recovery_window_in_days = var.retention.secret_recovery_days

  lifecycle {
    # A user that is removed is locked out first; the secret is deleted after that.
    create_before_destroy = true
  }
}

# Exactly the policy that MSK attaches to an associated secret: any other would be a change in each plan.
resource "aws_secretsmanager_secret_policy" "user" {
  for_each = var.users

  secret_arn          = aws_secretsmanager_secret.user[each.key].arn
  block_public_policy = true
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "AWSKafkaResourcePolicy"
      Effect    = "Allow"
      Principal = { Service = "kafka.amazonaws.com" }
      Action    = "secretsmanager:getSecretValue"
      Resource  = aws_secretsmanager_secret.user[each.key].arn
    }]
  })
}

resource "aws_secretsmanager_secret_version" "user" {
  for_each = var.users

  secret_id = aws_secretsmanager_secret.user[each.key].id
  secret_string_wo = jsonencode({
    username = each.key
    password = ephemeral.aws_secretsmanager_random_password.user[each.key].random_password
  })
  secret_string_wo_version = each.value.rotation
}

resource "aws_msk_scram_secret_association" "this" {
  count = length(var.users) > 0 ? 1 : 0

  cluster_arn     = aws_msk_cluster.this[0].arn
  secret_arn_list = [for secret in values(aws_secretsmanager_secret.user) : secret.arn]

  # MSK reads a secret when it is associated: by then it must have a value and the right to read it.
  depends_on = [aws_secretsmanager_secret_policy.user, aws_secretsmanager_secret_version.user]
}
