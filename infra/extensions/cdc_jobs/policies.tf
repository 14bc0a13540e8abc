# The rights of each job, and of the maintenance of its tables.
locals {
  _place  = "${var.platform.region}:${var.platform.account_id}"
  _glue   = "arn:${var.platform.partition}:glue:${local._place}"
  _keys   = "arn:${var.platform.partition}:kms:${local._place}:key/*"
  _lake   = var.platform.lake.bucket.arn
  _parked = var.platform.lake.parked_bucket.arn
  _tables = "arn:${var.platform.partition}:dynamodb:${local._place}:table/${var.platform.prefix}"

  _given   = { for name, statements in var.platform.statements : name => jsondecode(statements) }
  _read    = concat(local._given.read_schemas, local._given.read_registry_secrets, local._given.read_backups)
  _in_lake = concat(local._given.see_lake, local._given.use_lake_key)

  _catalog = ["${local._glue}:catalog", "${local._glue}:database/${local._database}"]
  _named   = { for name, tables in local.lake_tables : name => concat(local._catalog, [for table in tables : "${local._glue}:table/${local._database}/${table}"]) }
  _objects = { for name, tables in local.lake_tables : name => [for table in tables : "${local._lake}/tables/${table}/*"] }
  # Spark also looks up the folders above its checkpoint and its files.
  _folders = { for name in keys(var.jobs) : name => ["${local._lake}/cdc", "${local._lake}/cdc/${name}", "${local._lake}/cdc/${name}/*"] }

  _keep_errors = {
    for name in keys(var.jobs) : name => [
      {
        # Its lease is a row of that table too. One at a time, so that an existing dead letter stays unchanged.
        Sid      = "KeepErrorsAndItsLease"
        Effect   = "Allow"
        Action   = ["dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
        Resource = ["${local._tables}-${name}-errors"]
      },
      {
        Sid      = "LogErrorsAndKeepTheirBytes"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = ["${local._parked}/dead-letters/*", "${local._parked}/errors/*"]
      },
      {
        Sid      = "EncryptWhatIsParked"
        Effect   = "Allow"
        Action   = ["kms:GenerateDataKey"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = local._parked
          "kms:ViaService"                   = "s3.${var.platform.region}.amazonaws.com"
        } }
      },
      {
        # A row is encrypted with the table's own data key, which DynamoDB decrypts with this key.
        Sid      = "UseTheKeyOfItsTables"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:dynamodb:tableName" = concat(
            ["${var.platform.prefix}-${name}-errors"],
            [for topic in keys(var.jobs[name].dynamodb) : "${var.platform.prefix}-${local.names[name][topic]}"],
          )
          "kms:ViaService" = "dynamodb.${var.platform.region}.amazonaws.com"
        } }
      },
    ]
  }
  _write_current = {
    for name, job in var.jobs : name => [for statement in [{
      # A TRUNCATE and a whole snapshot look for the rows before them.
      Sid      = "KeepCurrentRows"
      Effect   = "Allow"
      Action   = ["dynamodb:DescribeTable", "dynamodb:PutItem", "dynamodb:Scan"]
      Resource = [for topic in keys(job.dynamodb) : "${local._tables}-${local.names[name][topic]}"]
    }] : statement if length(job.dynamodb) > 0]
  }
  _write_lake = {
    for role, objects in merge(
      { for name in keys(var.jobs) : name => concat(local._objects[name], local._folders[name]) },
      { for name in keys(var.jobs) : "${name}-maintain" => local._objects[name] },
      ) : role => [{
        Sid      = "WriteTheLake"
        Effect   = "Allow"
        Action   = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
        Resource = objects
    }]
  }
  _keep_tables = {
    for name, tables in local.lake_tables : name => [for statement in [{
      Sid      = "KeepTheLakesTables"
      Effect   = "Allow"
      Action   = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
      Resource = local._named[name]
    }] : statement if length(tables) > 0]
  }

  policies = {
    for role, statements in merge(
      {
        for name in keys(var.jobs) : name => concat(
          local._read, jsondecode(local._logins[name].read_password), local._keep_errors[name], local._write_current[name],
          local._in_lake, local._write_lake[name], local._keep_tables[name],
        )
      },
      {
        for name, tables in local.lake_tables : "${name}-maintain" => concat(local._in_lake, local._write_lake["${name}-maintain"], [{
          Sid      = "MaintainTheLakesTables"
          Effect   = "Allow"
          Action   = ["glue:GetTable", "glue:UpdateTable"]
          Resource = local._named[name]
        }]) if length(tables) > 0
      },
    ) : role => jsonencode({ Version = "2012-10-17", Statement = statements })
  }

  # A job makes tables, a maintenance alters them: an UpdateTable is a commit of Iceberg.
  permissions = {
    for role in keys(local.policies) : role => endswith(role, "-maintain") ? {
      database = [], tables = ["ALTER", "DESCRIBE"]
    } : { database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
    if contains(keys(local.policies), "${trimsuffix(role, "-maintain")}-maintain")
  }
}
