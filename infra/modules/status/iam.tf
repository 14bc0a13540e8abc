# What is counted may be listed. No event, no dead letter's bytes and no record can be read.
locals {
  _glue       = "arn:${var.platform.partition}:glue:${local._place}"
  _registries = { for name in keys(local._budgets) : name => try(regex("^glue://([^?]+)", var.producers[name].registry.url)[0], null) }
  _in_glue    = { for name, registry in local._registries : name => registry if registry != null }
  _secrets    = distinct([for name in keys(local._budgets) : var.producers[name].registry.secret_arn if var.producers[name].registry.secret_arn != null])

  policy_json = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [for bucket in var.bucket[*] : {
        Sid      = "CountKeptEvents"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [bucket.arn]
      }],
      [for statement in [
        {
          Sid    = "ListSchemaVersions"
          Effect = "Allow"
          Action = ["glue:ListSchemaVersions"]
          Resource = concat(
            [for registry in distinct(values(local._in_glue)) : "${local._glue}:registry/${registry}"],
            [for name, registry in local._in_glue : "${local._glue}:schema/${registry}/${local._budgets[name].schema}"],
          )
        },
        {
          # Versions are read by UUID, which IAM cannot narrow to a registry.
          Sid      = "ReadSchemaVersions"
          Effect   = "Allow"
          Action   = ["glue:GetSchemaVersion"]
          Resource = ["*"]
        },
      ] : statement if length(local._in_glue) > 0],
      [for statement in [
        {
          Sid      = "ReadSecretsOfRegistries"
          Effect   = "Allow"
          Action   = ["secretsmanager:GetSecretValue"]
          Resource = local._secrets
        },
        {
          # Only a customer managed key takes it.
          Sid      = "DecryptSecretsOfRegistries"
          Effect   = "Allow"
          Action   = ["kms:Decrypt"]
          Resource = [local._keys]
          Condition = { StringEquals = {
            "kms:EncryptionContext:SecretARN" = local._secrets
            "kms:ViaService"                  = "secretsmanager.${var.platform.region}.amazonaws.com"
          } }
        },
      ] : statement if length(local._secrets) > 0],
      [for statement in [
        {
          # The index has open dead letters alone, without their bytes.
          Sid      = "CountOpenDeadLetters"
          Effect   = "Allow"
          Action   = ["dynamodb:Query"]
          Resource = [for table in values(var.tables) : "${table.arn}/index/${table.due_index}"]
        },
        {
          Sid      = "UseTheKeyOfDeadLetters"
          Effect   = "Allow"
          Action   = ["kms:Decrypt"]
          Resource = [local._keys]
          Condition = { StringEquals = {
            "kms:EncryptionContext:aws:dynamodb:tableName" = values(var.tables)[*].name
            "kms:ViaService"                               = "dynamodb.${var.platform.region}.amazonaws.com"
          } }
        },
      ] : statement if length(var.tables) > 0],
    )
  })
}
