# The scheduled check of tables of the lake (docs/quality.md): one function for all of them, with the permissions to ask Athena.
locals {
  _glue     = "arn:${var.platform.partition}:glue:${var.platform.region}:${var.platform.account_id}"
  _keys     = "arn:${var.platform.partition}:kms:${var.platform.region}:${var.platform.account_id}:key/*"
  _database = var.platform.lake.database.name
  _lake_arn = var.platform.lake.bucket.arn
  _services = "${var.platform.region}.amazonaws.com"

  # That of the function, or that of all functions.
  login = lookup(var.platform.brokers.logins, "consumer-quality", lookup(var.platform.brokers.logins, "functions", null))

  _names  = sort(keys(var.tables))
  _beside = { for table in local._names : table => var.platform.lake.tables[table].beside }
  _errors = distinct([for table in local._names : var.platform.lake.tables[table].errors])
  _read   = distinct(concat(local._names, flatten(values(local._beside))))

  # By table, as `penstock quality` names it.
  flags = {
    for table in local._names : "${local._database}.${table}" => merge(
      { errors-tables = var.platform.lake.tables[table].errors.name },
      length(local._beside[table]) == 0 ? {} : { beside = join(",", [for other in local._beside[table] : "${local._database}.${other}"]) },
      var.tables[table],
    )
  }

  # The metric comes with each check: the first alarm keeps its state until the next one.
  alarms = merge([
    for table in local._names : {
      "${table}-quality" = {
        description = "Rules of data quality fail for ${local._database}.${table}; read the newest report below quality/${local._database}.${table}/ in the lake's bucket, and docs/quality.md#a-rule-failed."
        namespace   = "Penstock", metric = "QualityRulesFailed", statistic = "Maximum"
        dimensions  = { Table = "${local._database}.${table}" }
        minutes     = 60, missing = "ignore", section = "extensions"
      }
      "${table}-quality-silent" = {
        description = "${local._database}.${table} was not checked for ${var.silent_hours} hours (insufficient data); read the log of the function ${var.platform.prefix}-consumer-quality, and see whether its schedule is on."
        namespace   = "Penstock", metric = "QualityRulesFailed", statistic = "SampleCount"
        dimensions  = { Table = "${local._database}.${table}" }
        comparison  = "LessThanThreshold", threshold = 1, minutes = 60, periods = var.silent_hours, missing = "missing", silence = true, section = "extensions"
      }
    }
  ]...)

  # Athena reads the catalog and S3 with the permissions of its caller. Kafka is read as the consumer's user, without a group.
  statements = concat(
    [
      {
        Sid      = "AskAthena"
        Effect   = "Allow"
        Action   = ["athena:GetQueryExecution", "athena:GetQueryResults", "athena:StartQueryExecution", "athena:StopQueryExecution"]
        Resource = ["arn:${var.platform.partition}:athena:${var.platform.region}:${var.platform.account_id}:workgroup/${var.platform.lake.workgroup}"]
      },
      {
        Sid    = "FindTheTables"
        Effect = "Allow"
        Action = ["glue:GetDatabase", "glue:GetTable"]
        Resource = concat(
          ["${local._glue}:catalog", "${local._glue}:database/${local._database}"],
          [for table in concat(local._read, ["parked_records"]) : "${local._glue}:table/${local._database}/${table}"],
        )
      },
      {
        Sid      = "ReadTheTables"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = concat([for table in local._read : "${local._lake_arn}/tables/${table}/*"], ["${var.platform.lake.parked_bucket.arn}/records/*"])
      },
      {
        Sid      = "SeeObjects"
        Effect   = "Allow"
        Action   = ["s3:GetBucketLocation", "s3:ListBucket"]
        Resource = [local._lake_arn, var.platform.lake.parked_bucket.arn]
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
        Sid      = "DecryptParkedRecords"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = var.platform.lake.parked_bucket.arn
          "kms:ViaService"                   = "s3.${local._services}"
        } }
      },
      {
        Sid      = "ListDeadLetters"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = [for table in local._errors : "${table.arn}/index/${table.due_index}"]
      },
      {
        Sid      = "UseTheKeyOfDeadLetters"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local._keys]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:dynamodb:tableName" = local._errors[*].name
          "kms:ViaService"                               = "dynamodb.${local._services}"
        } }
      },
    ],
    [for on in [var.lake_formation] : { Sid = "ReadByGrants", Effect = "Allow", Action = ["lakeformation:GetDataAccess"], Resource = ["*"] } if on],
    flatten([for name in ["read_backups", "read_registry_secrets", "read_schemas", "use_lake_key"] : jsondecode(var.platform.statements[name])]),
    jsondecode(local.login.read_password),
  )
}

module "function" {
  source = "../../modules/platform-function"

  name        = "consumer-quality"
  alarms      = local.alarms
  description = "Checks tables of the lake by queries of Athena, and stores a report of each"
  environment = merge(
    {
      KAFKA_BOOTSTRAP_SERVERS = var.platform.brokers.bootstrap_servers
      KAFKA_SECRET_ARN        = local.login.secret_arn
      KAFKA_SECURITY          = "scram"
      PENSTOCK_PARKED_RECORDS = var.platform.lake.parked_records
      PENSTOCK_REGISTRY       = var.platform.registry.urls
      PENSTOCK_REPORTS        = "s3://${var.platform.lake.bucket.name}/quality"
      PENSTOCK_WORKGROUP      = var.platform.lake.workgroup
    },
    var.platform.registry.backups == "" ? {} : { PENSTOCK_REGISTRY_BACKUPS = var.platform.registry.backups },
  )
  package         = "quality"
  platform        = var.platform
  settings        = { name = "quality-tables", content = jsonencode(local.flags) }
  statements_json = jsonencode(local.statements)
  timeout_seconds = 900
  ways_out        = setsubtract(keys(var.platform.network.egress), ["lambda", "logs", "ssm", "ssmmessages"])
}

module "schedule" {
  source = "../../modules/function-schedule"

  name       = module.function.name
  account_id = var.platform.account_id
  partition  = var.platform.partition
  region     = var.platform.region
  expression = var.schedule
  function   = { arn = module.function.arn, name = module.function.name }

  permissions_boundary = var.platform.permissions_boundary

  depends_on = [aws_vpc_endpoint.athena]
}

# An existing VPC may have one.
resource "aws_vpc_endpoint" "athena" {
  count = contains(var.platform.network.interface_endpoints, "athena") ? 0 : 1

  vpc_id              = var.platform.network.vpc_id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${var.platform.region}.athena"
  policy              = var.platform.network.endpoint_policy
  subnet_ids          = var.platform.network.subnet_ids
  security_group_ids  = [var.platform.network.egress["endpoints"].security_group_id]
  private_dns_enabled = true

  tags = { Name = "${var.platform.prefix}-athena" }
}
