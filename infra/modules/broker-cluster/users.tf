# The SCRAM users of each program: two in turn, so that the one in use keeps its password in a rotation
# (docs/adr/0055-user-per-program.md). The passwords are in Secrets Manager and the brokers, never in a plan or state: each
# run draws one, discards it, and writes it only if the rotation number of its user has changed.
locals {
  # Odd rotations are those of a, even ones those of b, which the second rotation makes.
  logins = merge([
    for program, user in var.users : {
      for letter, rotation in { a = user.rotation - (1 - user.rotation % 2), b = user.rotation - user.rotation % 2 } :
      "${program}_${letter}" => { program = program, rotation = rotation } if rotation > 0
    }
  ]...)
  used_logins = { for program, user in var.users : program => "${program}_${user.rotation % 2 == 1 ? "a" : "b"}" }
}

ephemeral "aws_secretsmanager_random_password" "user" {
  for_each = local.logins

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
  #checkov:skip=CKV2_AWS_57:The consumer's account holds a copy, which a rotation by itself would not reach; it follows `rotation`
  for_each = local.logins

  name                    = "${local.secret_prefix}${each.key}"
  description             = "Kafka user of the program ${each.value.program}"
  kms_key_id              = module.users_key[0].arn
  recovery_window_in_days = var.retention.secret_recovery_days

  lifecycle {
    # A user that is removed is locked out first; the secret is deleted after that.
    create_before_destroy = true
  }
}

# Exactly the policy that MSK attaches to an associated secret: any other would be a change in each plan.
resource "aws_secretsmanager_secret_policy" "user" {
  for_each = local.logins

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
  for_each = local.logins

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
