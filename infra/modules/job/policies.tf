# The rights of the job's roles: the job, its replay, and the maintenance of its tables.
locals {
  _glue    = "arn:${var.platform.partition}:glue:${var.platform.region}:${var.platform.account_id}"
  _keys    = "arn:${var.platform.partition}:kms:${var.platform.region}:${var.platform.account_id}:key/*"
  _lake    = var.platform.lake.bucket.arn
  _parked  = var.platform.lake.parked_bucket.arn
  readings = var.platform.store.readings
  _given   = { for name, statements in var.platform.statements : name => jsondecode(statements) }
  _written = { for name, statements in var.written : name => jsondecode(statements) }

  _table_objects = [for table in var.tables.lake : "${local._lake}/tables/${table}/*"]
  _catalog_arns  = ["${local._glue}:catalog", "${local._glue}:database/${local._database}"]
  _table_arns    = concat(local._catalog_arns, [for table in var.tables.lake : "${local._glue}:table/${local._database}/${table}"])
  # Spark also looks up the folders above its checkpoint, and those above plain files.
  _checkpoint_objects = ["${local._lake}/checkpoints", "${local._lake}/${local._checkpoint}", "${local._lake}/${local._checkpoint}/*"]
  _plain_objects = flatten([
    for folder in length(local.plain) == 0 ? [] : concat(["plain"], flatten([for folder in values(local.plain) : [folder, "${folder}/*"]])) : "${local._lake}/${folder}"
  ])

  _hold_lease = [{
    # A job's lease is a row of that table too.
    Sid      = "HoldItsLease"
    Effect   = "Allow"
    Action   = ["dynamodb:BatchGetItem", "dynamodb:UpdateItem"]
    Resource = [local.errors.arn]
  }]
  _read_checkpoint = [{
    Sid      = "ReadTheCheckpointOfTheJob"
    Effect   = "Allow"
    Action   = ["s3:GetObject"]
    Resource = local._checkpoint_objects
  }]
  _replay_errors = [
    {
      # Its lease is a row of that table too.
      Sid      = "ReplayErrors"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchGetItem", "dynamodb:UpdateItem"]
      Resource = [local.errors.arn]
    },
    {
      Sid      = "FindErrorsToReplay"
      Effect   = "Allow"
      Action   = ["dynamodb:Query"]
      Resource = ["${local.errors.arn}/index/${local.errors.due_index}"]
    },
    {
      Sid      = "ReplayWhatNoRowHolds"
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = ["${local._parked}/errors/*"]
    },
    {
      # A denied read may mean that the object is missing: a replay goes on without it.
      Sid       = "SeeWhatNoRowHolds"
      Effect    = "Allow"
      Action    = ["s3:ListBucket"]
      Resource  = [local._parked]
      Condition = { StringLike = { "s3:prefix" = "errors/*" } }
    },
    {
      Sid      = "DecryptWhatNoRowHolds"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = { StringEquals = {
        "kms:EncryptionContext:aws:s3:arn" = local._parked
        "kms:ViaService"                   = "s3.${var.platform.region}.amazonaws.com"
      } }
    },
    {
      Sid      = "ParkRecordsAndTellOfThem"
      Effect   = "Allow"
      Action   = ["s3:PutObject"]
      Resource = ["${local._parked}/notices/*", "${local._parked}/records/*"]
    },
  ]
  _write_lake = {
    for role, objects in {
      (var.name)             = concat(local._table_objects, local._plain_objects, local._checkpoint_objects)
      "${var.name}-replay"   = concat(local._table_objects, local._plain_objects)
      "${var.name}-maintain" = local._table_objects
      } : role => [{
        Sid      = "WriteTheLake"
        Effect   = "Allow"
        Action   = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
        Resource = objects
    }]
  }
  # None for a plan of DynamoDB tables.
  _keep_tables = [for statement in [{
    Sid      = "KeepTheLakesTables"
    Effect   = "Allow"
    Action   = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
    Resource = local._table_arns
  }] : statement if length(var.tables.lake) > 0]
  _keep_plain = [for statement in [{
    Sid      = "KeepThePlainTables"
    Effect   = "Allow"
    Action   = ["glue:BatchCreatePartition", "glue:CreateTable", "glue:GetPartitions", "glue:GetTable", "glue:UpdateTable"]
    Resource = concat(local._catalog_arns, [for table in keys(local.plain) : "${local._glue}:table/${local._database}/${table}_plain"])
  }] : statement if length(local.plain) > 0]
  _maintain_tables = [{
    Sid      = "MaintainTheLakesTables"
    Effect   = "Allow"
    Action   = ["glue:GetTable", "glue:UpdateTable"]
    Resource = local._table_arns
  }]
  _keep_what_waits = [
    for table in var.tables.waiting[*] : {
      Sid      = "KeepWhatWaits"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:Query"]
      Resource = [local.readings[table].arn]
    }
  ]

  # The job alone looks for what waits, and releases it.
  retry_statements = concat(
    [
      {
        Sid      = "WriteJoinedRows"
        Effect   = "Allow"
        Action   = ["dynamodb:PutItem"]
        Resource = [for table in var.tables.finals : local.readings[table].arn]
      },
      {
        # Rows of drivers and of what they depend on are read by key, and written by the job alone.
        Sid      = "ReadRowsToJoin"
        Effect   = "Allow"
        Action   = ["dynamodb:BatchGetItem"]
        Resource = [for table in var.tables.dynamodb : local.readings[table].arn]
      },
    ],
    [for statement in local._keep_what_waits : merge(statement, { Action = ["dynamodb:BatchWriteItem", "dynamodb:DeleteItem"] })],
    local._written.use_keys, local._replay_errors,
  )

  _read    = concat(local._given.read_schemas, local._given.read_registry_secrets, local._given.read_backups)
  _in_lake = concat(local._given.see_lake, local._given.use_lake_key)
  policies = {
    for role, statements in {
      (var.name) = concat(
        local._read, local._written.write_rows, local._written.keep_errors, local._written.use_keys, local._hold_lease, jsondecode(local.login.read_password),
        local._in_lake, local._write_lake[var.name], local._keep_tables, local._keep_plain, local._keep_what_waits,
      )
      "${var.name}-replay" = concat(
        local._read, local._written.write_rows, local._written.use_keys, local._read_checkpoint, local._replay_errors,
        local._in_lake, local._write_lake["${var.name}-replay"], local._keep_tables, local._keep_plain,
      )
      "${var.name}-maintain" = concat(local._in_lake, local._write_lake["${var.name}-maintain"], local._maintain_tables)
    } : role => jsonencode({ Version = "2012-10-17", Statement = statements }) if contains(values(local.runs)[*].role, role)
  }

  # A job and its replay make tables, a maintenance alters them: an UpdateTable is a commit of Iceberg.
  _writes = { database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
  lake_permissions = {
    for role, permissions in {
      (var.name)             = local._writes
      "${var.name}-replay"   = local._writes
      "${var.name}-maintain" = { database = [], tables = ["ALTER", "DESCRIBE"] }
    } : role => permissions if contains(keys(local.policies), role)
  }
}
