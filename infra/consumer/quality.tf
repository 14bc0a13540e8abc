# The scheduled check of tables of the lake (docs/quality.md): one function for all of them, with the rights to ask Athena.
locals {
  _quality        = one([for quality in var.lake.quality[*] : quality if var.spark != null])
  _quality_tables = local._quality == null ? [] : sort(keys(local._quality.tables))
  # Missing offsets may be dead letters of the job, or rows of its other tables.
  _quality_jobs = { for table in local._quality_tables : table => one([for job in values(local.jobs) : job if contains(job.lake, table)]) }
  _beside = {
    for table, job in local._quality_jobs : table => length(job.routes) == 0 ? [] : [for other in job.lake : other if other != table]
  }

  quality = {
    for quality in local._quality[*] : "quality" => {
      errors = distinct([for job in values(local._quality_jobs) : module.reading_store.errors[job.errors]])
      # The producer's reader role trusts functions of this name.
      function = "${local.prefix}-consumer-quality"
      schedule = quality.schedule
      flags = {
        for table in local._quality_tables : "${module.lake.database.name}.${table}" => merge(
          { errors-tables = module.reading_store.errors[local._quality_jobs[table].errors].name },
          length(local._beside[table]) == 0 ? {} : { beside = join(",", [for other in local._beside[table] : "${module.lake.database.name}.${other}"]) },
          quality.tables[table],
        )
      }
      tables = distinct(concat(local._quality_tables, flatten(values(local._beside))))
    }
  }
  quality_alarms = one([
    for name, quality in local.quality : {
      schedule = quality.function, silent_hours = local._quality.silent_hours, tables = keys(quality.flags)
    }
  ])
}

module "quality" {
  source   = "../modules/lambda-function"
  for_each = local.quality

  name        = each.value.function
  account_id  = var.account_id
  region      = var.contract.region
  description = "Checks tables of the lake by queries of Athena, and stores a report of each"
  environment = merge(
    {
      KAFKA_BOOTSTRAP_SERVERS        = module.broker_access.bootstrap_servers
      KAFKA_SECRET_ARN               = module.broker_access.secret_arn
      KAFKA_SECURITY                 = "scram"
      PENSTOCK_LEASES_TABLE          = local.readings["function_leases"].name
      PENSTOCK_PARKED_RECORDS        = module.lake.parked_records
      PENSTOCK_QUALITY_TABLES        = module.spark["spark"].files["quality-tables.json"]
      PENSTOCK_QUALITY_TABLES_SHA256 = sha256(jsonencode(each.value.flags)) # a running function reads changed tables
      PENSTOCK_REGISTRY              = local.registry_urls
      PENSTOCK_REPORTS               = "s3://${module.lake.bucket.name}/quality"
      PENSTOCK_WORKGROUP             = module.lake.workgroup
    },
    length(var.registry_backups) == 0 ? {} : { PENSTOCK_REGISTRY_BACKUPS = join(" ", var.registry_backups) },
  )
  log_days   = var.retention.log_days
  memory_mib = 512
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = { for name, way in local.egress : name => way if !contains(["lambda", "logs", "ssm", "ssmmessages"], name) }
  }
  package = {
    path           = "${var.functions.packages}/quality-lambda.zip"
    architecture   = var.functions.architecture
    python_version = var.functions.python_version
  }
  policy_json          = local.quality_policies[each.key]
  reserved_concurrency = var.functions.reserved_concurrency
  timeout_seconds      = 900

  permissions_boundary = var.permissions_boundary
}

module "quality_schedule" {
  source   = "../modules/function-schedule"
  for_each = local.quality

  name       = each.value.function
  account_id = var.account_id
  region     = var.contract.region
  expression = each.value.schedule
  function   = { arn = module.quality[each.key].arn, name = module.quality[each.key].name }

  permissions_boundary = var.permissions_boundary
}

# Athena reads the catalog and S3 with the rights of its caller. Kafka is read as the consumer's user, without a group.
locals {
  quality_policies = {
    for name, quality in local.quality : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        [
          {
            Sid      = "AskAthena"
            Effect   = "Allow"
            Action   = ["athena:GetQueryExecution", "athena:GetQueryResults", "athena:StartQueryExecution", "athena:StopQueryExecution"]
            Resource = ["arn:${local._partition}:athena:${local._place}:workgroup/${module.lake.workgroup}"]
          },
          {
            Sid    = "FindTheTables"
            Effect = "Allow"
            Action = ["glue:GetDatabase", "glue:GetTable"]
            Resource = concat(
              ["${local._glue}:catalog", "${local._glue}:database/${module.lake.database.name}"],
              [for table in concat(quality.tables, ["parked_records"]) : "${local._glue}:table/${module.lake.database.name}/${table}"],
            )
          },
          {
            Sid      = "ReadTheTables"
            Effect   = "Allow"
            Action   = ["s3:GetObject"]
            Resource = concat([for table in quality.tables : "${local._lake_arn}/tables/${table}/*"], ["${module.lake.parked_bucket.arn}/records/*"])
          },
          {
            Sid      = "SeeObjects"
            Effect   = "Allow"
            Action   = ["s3:GetBucketLocation", "s3:ListBucket"]
            Resource = [local._lake_arn, module.lake.parked_bucket.arn]
          },
          {
            Sid      = "WriteAnswers"
            Effect   = "Allow"
            Action   = ["s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"]
            Resource = ["${local._lake_arn}/athena-results/*"]
          },
          {
            Sid      = "StoreReports"
            Effect   = "Allow"
            Action   = ["s3:PutObject"]
            Resource = ["${local._lake_arn}/quality/*"]
          },
          {
            Sid      = "UseTheKeyOfTheLake"
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = [local._keys]
            Condition = { StringEquals = {
              "kms:EncryptionContext:aws:s3:arn" = local._lake_arn
              "kms:ViaService"                   = "s3.${local._services}"
            } }
          },
          {
            Sid      = "DecryptParkedRecords"
            Effect   = "Allow"
            Action   = ["kms:Decrypt"]
            Resource = [local._keys]
            Condition = { StringEquals = {
              "kms:EncryptionContext:aws:s3:arn" = module.lake.parked_bucket.arn
              "kms:ViaService"                   = "s3.${local._services}"
            } }
          },
          {
            Sid      = "ListDeadLetters"
            Effect   = "Allow"
            Action   = ["dynamodb:Query"]
            Resource = [for table in quality.errors : "${table.arn}/index/${table.due_index}"]
          },
          {
            Sid      = "UseTheKeyOfDeadLetters"
            Effect   = "Allow"
            Action   = ["kms:Decrypt"]
            Resource = [local._keys]
            Condition = { StringEquals = {
              "kms:EncryptionContext:aws:dynamodb:tableName" = quality.errors[*].name
              "kms:ViaService"                               = "dynamodb.${local._services}"
            } }
          },
          local._read_schemas, local._read_files["quality-tables.json"], local._decrypt_files,
        ],
        local._hold_function_lease,
        [
          for statement in [{
            Sid      = "ReadByGrants"
            Effect   = "Allow"
            Action   = ["lakeformation:GetDataAccess"]
            Resource = ["*"]
          }] : statement if var.lake.grants != null
        ],
        local._read_password, local._read_registry_secrets, local._read_backups,
      )
    })
  }
}
