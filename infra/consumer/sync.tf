# The scheduled sync of tables of the lake (docs/lake.md): their columns are there before a batch needs them.
locals {
  sync = {
    for sync in var.lake.sync[*] : "sync" => {
      # The producer's reader role trusts functions of this name.
      function = "${local.prefix}-consumer-sync"
      schedule = sync.schedule
      schemas  = { for table, schemas in sync.tables : "${module.lake.database.name}.${table}" => schemas }
      tables   = sort(keys(sync.tables))
    } if var.spark != null
  }
}

module "sync" {
  source   = "../modules/lambda-function"
  for_each = local.sync

  name        = each.value.function
  account_id  = var.account_id
  region      = var.contract.region
  description = "Grows the columns of tables of the lake to hold all versions of their schemas"
  environment = {
    PENSTOCK_LEASES_TABLE       = local.readings["function_leases"].name
    PENSTOCK_REGISTRY           = local.registry_urls
    PENSTOCK_SYNC_TABLES        = module.spark["spark"].files["sync-tables.json"]
    PENSTOCK_SYNC_TABLES_SHA256 = sha256(jsonencode(each.value.schemas)) # a running function reads changed tables
  }
  log_days   = var.retention.log_days
  memory_mib = 512
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = { for name, way in local.egress : name => way if !contains(concat(["athena", "brokers", "lambda", "logs", "ssm", "ssmmessages"], length(local.registries) == 0 ? ["secretsmanager"] : []), name) }
  }
  package = {
    path           = "${var.functions.packages}/sync-lambda.zip"
    architecture   = var.functions.architecture
    python_version = var.functions.python_version
  }
  policy_json          = local.sync_policies[each.key]
  reserved_concurrency = var.functions.reserved_concurrency
  timeout_seconds      = 300

  permissions_boundary = var.permissions_boundary
}

module "sync_schedule" {
  source   = "../modules/function-schedule"
  for_each = local.sync

  name       = each.value.function
  account_id = var.account_id
  region     = var.contract.region
  expression = each.value.schedule
  function   = { arn = module.sync[each.key].arn, name = module.sync[each.key].name }

  permissions_boundary = var.permissions_boundary
}

# It reads and writes metadata of Iceberg alone: no data file.
locals {
  sync_policies = {
    for name, sync in local.sync : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        [
          {
            Sid    = "ChangeColumns"
            Effect = "Allow"
            Action = ["glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
            Resource = concat(
              ["${local._glue}:catalog", "${local._glue}:database/${module.lake.database.name}"],
              [for table in sync.tables : "${local._glue}:table/${module.lake.database.name}/${table}"],
            )
          },
          {
            Sid      = "WriteMetadata"
            Effect   = "Allow"
            Action   = ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
            Resource = [for table in sync.tables : "${local._lake_arn}/tables/${table}/metadata/*"]
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
          local._read_schemas, local._read_files["sync-tables.json"], local._decrypt_files,
        ],
        local._read_registry_secrets, local._hold_function_lease,
      )
    })
  }
}
