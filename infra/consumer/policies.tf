# All rights of the consumer functions, the Spark jobs and the clients. Keys are allowed by what they are used for
# (docs/adr/0029-whole-policies.md), so a plan shows the policies whole.
locals {
  _place    = "${var.contract.region}:${var.account_id}"
  _glue     = "arn:${local.partition}:glue:${local._place}"
  _keys     = "arn:${local.partition}:kms:${local._place}:key/*"
  _services = "${var.contract.region}.amazonaws.com"
  # Secrets Manager appends a dash and six characters to an ARN.
  _login = "arn:${local.partition}:secretsmanager:${local._place}:secret:${module.broker_access.secret_name}-??????"

  # The trust policies in the producer account name who may assume these roles.
  _read_schemas = {
    Sid      = "ReadSchemasOfTheProducer"
    Effect   = "Allow"
    Action   = ["sts:AssumeRole"]
    Resource = [var.contract.registry.role_arn]
  }
  # Statements for backups, none without them.
  _backups = [for url in var.registry_backups : "arn:${local.partition}:s3:::${trimprefix(url, "s3://")}"]
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
  _registry_secrets = [for registry in local.registries : registry.secret_arn if registry.secret_arn != null]
  _read_registry_secrets = [
    for statement in [
      {
        Sid      = "ReadSecretsOfRegistries"
        Effect   = "Allow"
        Action   = ["secretsmanager:GetSecretValue"]
        Resource = local._registry_secrets
      },
      {
        # Only a customer managed key takes it.
        Sid      = "DecryptSecretsOfRegistries"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:SecretARN" = local._registry_secrets
          "kms:ViaService"                  = "secretsmanager.${local._services}"
        } }
      },
    ] : statement if length(local._registry_secrets) > 0
  ]
  # By writer: a function has no routes.
  readings = module.reading_store.readings
  _written = merge(
    {
      for name, function in local.functions : name => {
        errors  = module.reading_store.errors[function.errors]
        tables  = [local.readings[function.table]]
        upserts = local.tables[function.table].upserts
      }
    },
    {
      for name, job in local.jobs : name => {
        errors  = module.reading_store.errors[job.errors]
        tables  = [for table in job.tables : local.readings[table]]
        upserts = anytrue([for table in job.tables : local.tables[table].upserts])
      }
    },
  )
  # None for a plan of lake tables. A job with joins reads the rows that it writes, in one statement, since each names
  # all tables.
  _write_rows = { for writer, written in local._written : writer => [
    for statement in [{
      Sid      = "WriteReadings"
      Effect   = "Allow"
      Action   = concat(contains(keys(local.joins), writer) ? ["dynamodb:BatchGetItem"] : [], [written.upserts ? "dynamodb:PutItem" : "dynamodb:BatchWriteItem"])
      Resource = written.tables[*].arn
    }] : statement if length(written.tables) > 0
  ] }
  _keep_errors = { for writer, written in local._written : writer => [
    {
      # One at a time, so that an existing dead letter stays unchanged.
      Sid      = "KeepErrors"
      Effect   = "Allow"
      Action   = ["dynamodb:PutItem"]
      Resource = [written.errors.arn]
    },
    {
      Sid      = "LogErrorsAndKeepTheirBytes"
      Effect   = "Allow"
      Action   = ["s3:PutObject"]
      Resource = ["${module.lake.parked_bucket.arn}/dead-letters/*", "${module.lake.parked_bucket.arn}/errors/*"]
    },
  ] }
  _use_keys = { for writer, written in local._written : writer => [
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
      # A row is encrypted with the table's own data key, which DynamoDB decrypts with this key. By the prefix of all
      # tables, since a condition cannot be split: it opens no table whose rows the role may not read or write.
      Sid      = "UseTheKeyOfTheTables"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = {
        StringEquals = { "kms:ViaService" = "dynamodb.${local._services}" }
        StringLike   = { "kms:EncryptionContext:aws:dynamodb:tableName" = "${local.prefix}-*" }
      }
    },
  ] }
  _write_tables = {
    for writer in keys(local._written) : writer => concat(local._write_rows[writer], local._keep_errors[writer], local._use_keys[writer])
  }

  function_policies = {
    for name in keys(local.functions) : name => jsonencode({
      Version   = "2012-10-17"
      Statement = concat([local._read_schemas], local._read_registry_secrets, local._read_backups, local._write_tables[name])
    })
  }

  # Every program of a job may list the lake; it reads and writes only its own objects.
  _lake_arn = module.lake.bucket.arn
  _use_lake_key = {
    Sid      = "UseTheKeyOfTheLake"
    Effect   = "Allow"
    Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
    Resource = [local._keys]
    Condition = { StringEquals = {
      "kms:EncryptionContext:aws:s3:arn" = local._lake_arn
      "kms:ViaService"                   = "s3.${local._services}"
    } }
  }
  _use_lake = [
    {
      # Without it, S3 answers 403 in place of 404 for a missing object. S3A's committers look for uploads to abort.
      Sid      = "SeeTheLakesObjects"
      Effect   = "Allow"
      Action   = ["s3:ListBucket", "s3:ListBucketMultipartUploads"]
      Resource = [local._lake_arn]
    },
    local._use_lake_key,
  ]
  _table_objects = { for name, job in local.jobs : name => [for table in job.lake : "${local._lake_arn}/tables/${table}/*"] }
  _table_arns = {
    for name, job in local.jobs : name => concat(
      ["${local._glue}:catalog", "${local._glue}:database/${module.lake.database.name}"],
      [for table in job.lake : "${local._glue}:table/${module.lake.database.name}/${table}"],
    )
  }
  # Spark also looks up the folders above its checkpoint.
  _checkpoint_objects = {
    for name, job in local.jobs : name => ["${local._lake_arn}/checkpoints", "${local._lake_arn}/${job.checkpoint}", "${local._lake_arn}/${job.checkpoint}/*"]
  }

  _read_password = [
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
  ]

  client_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat([local._read_schemas], local._read_registry_secrets, local._read_password)
  })

  _hold_lease = {
    for name, job in local.jobs : name => [{
      # A job's lease is a row of that table too.
      Sid      = "HoldItsLease"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchGetItem", "dynamodb:UpdateItem"]
      Resource = [module.reading_store.errors[job.errors].arn]
    }]
  }
  _read_checkpoint = {
    for name in keys(local.jobs) : name => {
      Sid      = "ReadTheCheckpointOfTheJob"
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = local._checkpoint_objects[name]
    }
  }
  _replay_errors = {
    for name, job in local.jobs : name => [
      {
        # Its lease is a row of that table too.
        Sid      = "ReplayErrors"
        Effect   = "Allow"
        Action   = ["dynamodb:BatchGetItem", "dynamodb:UpdateItem"]
        Resource = [module.reading_store.errors[job.errors].arn]
      },
      {
        Sid      = "FindErrorsToReplay"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.reading_store.errors[job.errors].arn}/index/${module.reading_store.errors[job.errors].due_index}"]
      },
      {
        Sid      = "ReplayWhatNoRowHolds"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = ["${module.lake.parked_bucket.arn}/errors/*"]
      },
      {
        # A denied read may mean that the object is missing: a replay goes on without it.
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
    ]
  }

  # By role: the job, its replay, and the maintenance of its tables.
  _write_lake = {
    for role, objects in merge([
      for name, job in local.jobs : {
        (name)             = concat(local._table_objects[name], lookup(local._plain_objects, name, []), local._checkpoint_objects[name])
        "${name}-replay"   = concat(local._table_objects[name], lookup(local._plain_objects, name, []))
        "${name}-maintain" = local._table_objects[name]
      }
      ]...) : role => {
      Sid      = "WriteTheLake"
      Effect   = "Allow"
      Action   = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
      Resource = objects
    }
  }
  # None for a plan of DynamoDB tables.
  _keep_tables = {
    for name, arns in local._table_arns : name => [
      for statement in [{
        Sid      = "KeepTheLakesTables"
        Effect   = "Allow"
        Action   = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
        Resource = arns
      }] : statement if length(local.jobs[name].lake) > 0
    ]
  }
  _maintain_tables = {
    for name, arns in local._table_arns : name => {
      Sid      = "MaintainTheLakesTables"
      Effect   = "Allow"
      Action   = ["glue:GetTable", "glue:UpdateTable"]
      Resource = arns
    }
  }
  # Rows of drivers and of what they depend on are read by key, and written by the job alone.
  _read_rows_to_join = {
    for name in keys(local.joins) : name => {
      Sid      = "ReadRowsToJoin"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchGetItem"]
      Resource = [for table, made in local.staged[name] : local.readings[table].arn if made.dynamodb]
    }
  }
  _keep_what_waits = {
    for name, join in local.joins : name => {
      Sid      = "KeepWhatWaits"
      Effect   = "Allow"
      Action   = ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:Query"]
      Resource = [local.readings[join.waiting].arn]
    }
  }
  job_policies = merge([
    for name, job in local.jobs : {
      for role, statements in {
        (name) = concat(
          [local._read_schemas], local._read_registry_secrets, local._read_backups, local._write_tables[name], local._hold_lease[name], local._read_password,
          local._use_lake, [local._write_lake[name]], local._keep_tables[name], try([local._keep_plain[name]], []), try([local._keep_what_waits[name]], []),
        )
        "${name}-replay" = concat(
          [local._read_schemas], local._read_registry_secrets, local._read_backups, local._write_rows[name], local._use_keys[name], [local._read_checkpoint[name]], local._replay_errors[name],
          local._use_lake, [local._write_lake["${name}-replay"]], local._keep_tables[name], try([local._keep_plain[name]], []),
        )
        "${name}-maintain" = concat(local._use_lake, [local._write_lake["${name}-maintain"], local._maintain_tables[name]])
      } : role => jsonencode({ Version = "2012-10-17", Statement = statements }) if contains(values(local.runs)[*].role, role)
    }
  ]...)

  # What retries read from the bucket of the jobs' artifacts, since Lambda takes 4 KB of variables.
  _read_files = {
    for file, url in try(module.spark["spark"].files, {}) : file => {
      Sid      = "ReadItsPlan"
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = ["arn:${local.partition}:s3:::${trimprefix(url, "s3://")}"]
    }
  }
  _decrypt_files = {
    Sid      = "DecryptItsPlan"
    Effect   = "Allow"
    Action   = ["kms:Decrypt"]
    Resource = [local._keys]
    Condition = { StringEquals = {
      "kms:EncryptionContext:aws:s3:arn" = try(module.spark["spark"].artifacts_bucket.arn, "")
      "kms:ViaService"                   = "s3.${local._services}"
    } }
  }
  # Without reserved concurrency, two invocations of a scheduled function may overlap: one works.
  _hold_function_lease = [
    {
      Sid      = "HoldItsLease"
      Effect   = "Allow"
      Action   = ["dynamodb:UpdateItem"]
      Resource = [local.readings["function_leases"].arn]
    },
    {
      Sid      = "UseTheKeyOfLeases"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [local._keys]
      Condition = { StringEquals = {
        "kms:EncryptionContext:aws:dynamodb:tableName" = local.readings["function_leases"].name
        "kms:ViaService"                               = "dynamodb.${local._services}"
      } }
    },
  ]

  retry_policies = {
    for name, join in local.joins : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        [
          local._read_files[join.file],
          local._decrypt_files,
          {
            Sid      = "WriteJoinedRows"
            Effect   = "Allow"
            Action   = ["dynamodb:PutItem"]
            Resource = [for table in join.finals : local.readings[table].arn]
          },
        ],
        # The job alone looks for what waits, and releases it.
        [local._read_rows_to_join[name], merge(local._keep_what_waits[name], { Action = ["dynamodb:BatchWriteItem", "dynamodb:DeleteItem"] })],
        local._use_keys[name], local._replay_errors[name], slice(local._hold_function_lease, 0, 1),
      )
    })
  }
}
