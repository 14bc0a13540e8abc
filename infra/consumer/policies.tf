# What the consumer function and the Spark job may do, whole.
locals {
  _glue = "arn:${local._partition}:glue:${var.contract.region}:${var.account_id}"

  # The roles' own trust, in the producer's account, names who may take it.
  _read_schemas = {
    Sid      = "ReadSchemasOfTheProducer"
    Effect   = "Allow"
    Action   = ["sts:AssumeRole"]
    Resource = [var.contract.registry.role_arn]
  }
  _write_tables = [
    {
      Sid      = "WriteReadingsAndErrors"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchWriteItem"]
      Resource = [module.reading_store.readings.arn, module.reading_store.errors.arn]
    },
    {
      Sid       = "UseTheKeyOfTheTables"
      Effect    = "Allow"
      Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
      Resource  = [module.reading_store.key_arn]
      Condition = { StringEquals = { "kms:ViaService" = "dynamodb.${var.contract.region}.amazonaws.com" } }
    },
  ]

  consumer_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat([local._read_schemas], local._write_tables)
  })

  spark_policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([local._read_schemas], local._write_tables, [
      {
        Sid      = "ReadItsPassword"
        Effect   = "Allow"
        Action   = ["secretsmanager:GetSecretValue"]
        Resource = [module.broker_access.secret_arn]
      },
      {
        Sid       = "DecryptItsPassword"
        Effect    = "Allow"
        Action    = ["kms:Decrypt"]
        Resource  = [module.broker_access.secret_key_arn]
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${var.contract.region}.amazonaws.com" } }
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
        Sid       = "UseTheKeyOfTheLake"
        Effect    = "Allow"
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = [module.lake.key_arn]
        Condition = { StringEquals = { "kms:ViaService" = "s3.${var.contract.region}.amazonaws.com" } }
      },
      {
        Sid    = "KeepTheLakesTables"
        Effect = "Allow"
        Action = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
        Resource = [
          "${local._glue}:catalog",
          "${local._glue}:database/${module.lake.database.name}",
          "${local._glue}:table/${module.lake.database.name}/*",
        ]
      },
    ])
  })
}
