# What the consumer function and the Spark job may do, whole. Keys are allowed by what they are used for
# (docs/adr/20261121-keys-by-use.md), so that a plan shows all of it.
locals {
  _place    = "${var.contract.region}:${var.account_id}"
  _glue     = "arn:${local._partition}:glue:${local._place}"
  _keys     = "arn:${local._partition}:kms:${local._place}:key/*"
  _services = "${var.contract.region}.amazonaws.com"
  # Secrets Manager ends an ARN with a dash and six characters of its own.
  _login = "arn:${local._partition}:secretsmanager:${local._place}:secret:${module.broker_access.secret_name}-??????"

  # The roles' own trust, in the producer's account, names who may take it.
  _read_schemas = {
    Sid      = "ReadSchemasOfTheProducer"
    Effect   = "Allow"
    Action   = ["sts:AssumeRole"]
    Resource = [var.contract.registry.role_arn]
  }
  # By who writes: the function knows no routes.
  _written = {
    function = [module.reading_store.readings[local.table_of_all]]
    spark    = [for table in local.tables : module.reading_store.readings[table]]
  }
  _write_tables = { for writer, tables in local._written : writer => [
    {
      Sid      = "WriteReadings"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchWriteItem"]
      Resource = tables[*].arn
    },
    {
      # One by one, so that an error which is there already stays as it is.
      Sid      = "KeepErrors"
      Effect   = "Allow"
      Action   = ["dynamodb:PutItem"]
      Resource = [module.reading_store.errors.arn]
    },
    {
      Sid      = "ParkWhatNoRowHolds"
      Effect   = "Allow"
      Action   = ["s3:PutObject"]
      Resource = ["${module.lake.parked_bucket.arn}/errors/*"]
    },
    {
      Sid      = "EncryptWhatIsParked"
      Effect   = "Allow"
      Action   = ["kms:GenerateDataKey"]
      Resource = [local._keys]
      Condition = { StringEquals = {
        "kms:EncryptionContext:aws:s3:arn" = module.lake.parked_bucket.arn
        "kms:ViaService"                   = "s3.${local._services}"
      } }
    },
    {
      # A row is encrypted with the table's own key, which DynamoDB has this one decrypt.
      Sid      = "UseTheKeyOfTheTables"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = { StringEquals = {
        "kms:EncryptionContext:aws:dynamodb:tableName" = concat(tables[*].name, [module.reading_store.errors.name])
        "kms:ViaService"                               = "dynamodb.${local._services}"
      } }
    },
  ] }

  consumer_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat([local._read_schemas], local._write_tables.function)
  })

  spark_policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([local._read_schemas], local._write_tables.spark, [
      {
        Sid      = "ReadItsPassword"
        Effect   = "Allow"
        Action   = ["secretsmanager:GetSecretValue"]
        Resource = [local._login]
      },
      {
        Sid      = "DecryptItsPassword"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = {
          StringEquals = { "kms:ViaService" = "secretsmanager.${local._services}" }
          StringLike   = { "kms:EncryptionContext:SecretARN" = local._login }
        }
      },
      {
        Sid      = "SeeTheLakesObjects"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [module.lake.bucket.arn]
      },
      {
        Sid      = "WriteTheLake"
        Effect   = "Allow"
        Action   = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
        Resource = ["${module.lake.bucket.arn}/*"]
      },
      {
        Sid      = "UseTheKeyOfTheLake"
        Effect   = "Allow"
        Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = module.lake.bucket.arn
          "kms:ViaService"                   = "s3.${local._services}"
        } }
      },
      {
        Sid    = "KeepTheLakesTables"
        Effect = "Allow"
        Action = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
        Resource = concat(
          ["${local._glue}:catalog", "${local._glue}:database/${module.lake.database.name}"],
          [for table in local.tables : "${local._glue}:table/${module.lake.database.name}/${table}"],
        )
      },
      {
        # Leases of jobs are rows of that table too.
        Sid      = "ReplayErrors"
        Effect   = "Allow"
        Action   = ["dynamodb:BatchGetItem", "dynamodb:UpdateItem"]
        Resource = [module.reading_store.errors.arn]
      },
      {
        Sid      = "FindErrorsToReplay"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.reading_store.errors.arn}/index/${module.reading_store.errors.due_index}"]
      },
      {
        Sid      = "ReplayWhatNoRowHolds"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = ["${module.lake.parked_bucket.arn}/errors/*"]
      },
      {
        # A refusal to read may mean that the object is gone: a replay goes on without it.
        Sid       = "SeeWhatNoRowHolds"
        Effect    = "Allow"
        Action    = ["s3:ListBucket"]
        Resource  = [module.lake.parked_bucket.arn]
        Condition = { StringLike = { "s3:prefix" = "errors/*" } }
      },
      {
        Sid      = "DecryptWhatNoRowHolds"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = module.lake.parked_bucket.arn
          "kms:ViaService"                   = "s3.${local._services}"
        } }
      },
      {
        Sid      = "ParkRecordsAndTellOfThem"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = ["${module.lake.parked_bucket.arn}/notices/*", "${module.lake.parked_bucket.arn}/records/*"]
      },
    ])
  })
}
