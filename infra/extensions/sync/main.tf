# The scheduled sync of tables of the lake (docs/lake.md): their columns are there before a batch needs them.
locals {
  _glue     = "arn:${var.platform.partition}:glue:${var.platform.region}:${var.platform.account_id}"
  _database = var.platform.lake.database.name
  _tables   = sort(keys(var.tables))

  schemas = { for table in local._tables : "${local._database}.${table}" => var.tables[table] }

  # The function reads and writes only the metadata of Iceberg, and no data file.
  statements = concat(
    [
      {
        Sid    = "ChangeColumns"
        Effect = "Allow"
        Action = ["glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
        Resource = concat(
          ["${local._glue}:catalog", "${local._glue}:database/${local._database}"],
          [for table in local._tables : "${local._glue}:table/${local._database}/${table}"],
        )
      },
      {
        Sid      = "WriteMetadata"
        Effect   = "Allow"
        Action   = ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
        Resource = [for table in local._tables : "${var.platform.lake.bucket.arn}/tables/${table}/metadata/*"]
      },
    ],
    flatten([for name in ["read_registry_secrets", "read_schemas", "use_lake_key"] : jsondecode(var.platform.statements[name])]),
  )

  # Secrets are those of other registries than Glue.
  useless_ways = concat(["athena", "brokers", "lambda", "logs", "ssm", "ssmmessages"], var.platform.registry.has_others ? [] : ["secretsmanager"])
}

module "function" {
  source = "../../modules/platform-function"

  name            = "consumer-sync"
  description     = "Grows the columns of tables of the lake to hold all versions of their schemas"
  environment     = { PENSTOCK_REGISTRY = var.platform.registry.urls }
  package         = "sync"
  platform        = var.platform
  settings        = { name = "sync-tables", content = jsonencode(local.schemas) }
  statements_json = jsonencode(local.statements)
  ways_out        = setsubtract(keys(var.platform.network.egress), local.useless_ways)
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
}
