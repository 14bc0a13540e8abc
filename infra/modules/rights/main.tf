# IAM statements that several programs of a consumer need. Keys are allowed by what they are used for
# (docs/adr/0029-whole-policies.md), so a plan shows policies whole.
locals {
  _place    = "${var.region}:${var.account_id}"
  _keys     = "arn:${var.partition}:kms:${local._place}:key/*"
  _services = "${var.region}.amazonaws.com"
  # Secrets Manager appends a dash and six characters to an ARN.
  _logins = { for program, name in var.secret_names : program => "arn:${var.partition}:secretsmanager:${local._place}:secret:${name}-??????" }

  # The trust policies in the producer account name who may assume these roles.
  _read_schemas = [{
    Sid      = "ReadSchemasOfTheProducer"
    Effect   = "Allow"
    Action   = ["sts:AssumeRole"]
    Resource = [var.reader_role_arn]
  }]
  # Statements for backups, none without them.
  _backups = [for url in var.backups : "arn:${var.partition}:s3:::${trimprefix(url, "s3://")}"]
  _read_backups = [
    for statement in [
      {
        Sid      = "ReadBackupsOfRegistries"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = local._backups
      },
      {
        # The context is the bucket with a bucket key, else the object.
        Sid      = "DecryptBackupsOfRegistries"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = distinct(flatten([for arn in local._backups : [split("/", arn)[0], arn]]))
          "kms:ViaService"                   = "s3.${local._services}"
        } }
      },
    ] : statement if length(local._backups) > 0
  ]
  # Statements for the secrets of other registries than Glue, none without them.
  _read_registry_secrets = [
    for statement in [
      {
        Sid      = "ReadSecretsOfRegistries"
        Effect   = "Allow"
        Action   = ["secretsmanager:GetSecretValue"]
        Resource = var.registry_secrets
      },
      {
        # Only a customer managed key takes it.
        Sid      = "DecryptSecretsOfRegistries"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:SecretARN" = var.registry_secrets
          "kms:ViaService"                  = "secretsmanager.${local._services}"
        } }
      },
    ] : statement if length(var.registry_secrets) > 0
  ]
  read_passwords = { for program, arn in local._logins : program => [
    {
      Sid      = "ReadItsPassword"
      Effect   = "Allow"
      Action   = ["secretsmanager:GetSecretValue"]
      Resource = [arn]
    },
    {
      Sid      = "DecryptItsPassword"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = {
        StringEquals = { "kms:ViaService" = "secretsmanager.${local._services}" }
        StringLike   = { "kms:EncryptionContext:SecretARN" = arn }
      }
    },
  ] }

  # Without it, S3 answers 403 in place of 404 for a missing object. S3A's committers look for uploads to abort.
  _see_lake = [{
    Sid      = "SeeTheLakesObjects"
    Effect   = "Allow"
    Action   = ["s3:ListBucket", "s3:ListBucketMultipartUploads"]
    Resource = [var.lake.bucket.arn]
  }]
  _use_lake_key = [{
    Sid      = "UseTheKeyOfTheLake"
    Effect   = "Allow"
    Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
    Resource = [local._keys]
    Condition = { StringEquals = {
      "kms:EncryptionContext:aws:s3:arn" = var.lake.bucket.arn
      "kms:ViaService"                   = "s3.${local._services}"
    } }
  }]
  # Without reserved concurrency, two invocations of a scheduled function may overlap: one works.
  _hold_lease = [
    {
      Sid      = "HoldItsLease"
      Effect   = "Allow"
      Action   = ["dynamodb:UpdateItem"]
      Resource = [var.store.readings["function_leases"].arn]
    },
    {
      Sid      = "UseTheKeyOfLeases"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = { StringEquals = {
        "kms:EncryptionContext:aws:dynamodb:tableName" = var.store.readings["function_leases"].name
        "kms:ViaService"                               = "dynamodb.${local._services}"
      } }
    },
  ]

  # In batches; but where a row may replace an older one, one at a time, on a condition.
  _write_rows = { for name, writer in var.writers : name => [
    for sid, write in {
      ReplaceReadings = { action = "dynamodb:PutItem", tables = setintersection(writer.tables, var.upserts) }
      WriteReadings   = { action = "dynamodb:BatchWriteItem", tables = setsubtract(writer.tables, var.upserts) }
      } : {
      Sid      = sid
      Effect   = "Allow"
      Action   = concat(writer.reads ? ["dynamodb:BatchGetItem"] : [], [write.action])
      Resource = [for table in write.tables : var.store.readings[table].arn]
    } if length(write.tables) > 0
  ] }
  _keep_errors = { for name, writer in var.writers : name => [
    {
      # One at a time, so that an existing dead letter stays unchanged.
      Sid      = "KeepErrors"
      Effect   = "Allow"
      Action   = ["dynamodb:PutItem"]
      Resource = [var.store.errors[writer.errors].arn]
    },
    {
      Sid      = "LogErrorsAndKeepTheirBytes"
      Effect   = "Allow"
      Action   = ["s3:PutObject"]
      Resource = ["${var.lake.parked_bucket.arn}/dead-letters/*", "${var.lake.parked_bucket.arn}/errors/*"]
    },
  ] }
  _use_keys = [
    {
      Sid      = "EncryptWhatIsParked"
      Effect   = "Allow"
      Action   = ["kms:GenerateDataKey"]
      Resource = [local._keys]
      Condition = { StringEquals = {
        "kms:EncryptionContext:aws:s3:arn" = var.lake.parked_bucket.arn
        "kms:ViaService"                   = "s3.${local._services}"
      } }
    },
    {
      # A row is encrypted with the table's own data key, which DynamoDB decrypts with this key. By the prefix of all
      # tables, since a condition cannot be split: it opens no table whose rows the role may not read or write.
      Sid      = "UseTheKeyOfTheTables"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = {
        StringEquals = { "kms:ViaService" = "dynamodb.${local._services}" }
        StringLike   = { "kms:EncryptionContext:aws:dynamodb:tableName" = "${var.prefix}-*" }
      }
    },
  ]

  statements = {
    hold_lease            = local._hold_lease
    read_backups          = local._read_backups
    read_registry_secrets = local._read_registry_secrets
    read_schemas          = local._read_schemas
    see_lake              = local._see_lake
    use_lake_key          = local._use_lake_key
  }
  writers = {
    for name in keys(var.writers) : name => { keep_errors = local._keep_errors[name], use_keys = local._use_keys, write_rows = local._write_rows[name] }
  }
}
