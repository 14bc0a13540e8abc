# Derived from the plans of staging jobs (docs/deploying.md): their tables, and the retries of their joins.
locals {
  _plans = {
    for name, job in var.spark == null ? {} : var.jobs : name => jsondecode(file(job.staging.plan)) if job.staging != null
  }
  # By job and table. The second names are those of older programs, which become names as penstock.extensions.staging.configuration makes them.
  _named = {
    for name, plan in local._plans : name => {
      for table in plan.tables : try(table.name, replace(lower(table.target_table_name), "/[^a-z0-9_]/", "_")) => table
    }
  }
  _made = {
    for name, tables in local._named : name => {
      for name, table in tables : name => {
        final     = try(table.final, null)
        hash_key  = try(table.key_name, flatten([table.key])[0])
        range_key = try(table.sort_name, flatten([table.sort])[0], null)
        sinks     = try(table.sinks, ["dynamodb"])
      }
    }
  }
  # A final table has the keys of its driver, and joined rows go to DynamoDB alone.
  staged = {
    for name, tables in local._made : name => merge(
      {
        for table, made in tables : table => {
          hash_key = made.hash_key, range_key = made.range_key
          dynamodb = contains(made.sinks, "dynamodb"), lake = contains(made.sinks, "lake"), settings = {}, upserts = true
        }
      },
      {
        for made in values(tables) : made.final => {
          hash_key = made.hash_key, range_key = made.range_key
          dynamodb = true, lake = false, settings = {}, upserts = true
        } if made.final != null
      },
    )
  }

  # The jobs with joins, whose rows may wait for others.
  joins = {
    for name, tables in local._made : name => {
      errors   = local.jobs[name].errors
      file     = "${name}-plan.json"
      finals   = compact(values(tables)[*].final)
      function = "${local.prefix}-retry-${name}"
      retry    = var.jobs[name].staging
      waiting  = "${replace(name, "-", "_")}_waiting"
    } if length(compact(values(tables)[*].final)) > 0
  }

  # A table of a plan is of that job alone.
  other_tables = setunion(["dead_letters", "errors", "function_leases", "parked_records"], values(var.consumer_functions)[*].table, flatten([for job in values(var.jobs) : values(job.writes)]), values(local.joins)[*].waiting)
  table_names  = concat(tolist(local.other_tables), flatten([for tables in values(local.staged) : keys(tables)]))
}

module "retry" {
  source   = "../modules/lambda-function"
  for_each = local.joins

  name        = each.value.function
  account_id  = var.account_id
  region      = var.contract.region
  description = "Joins rows again whose dependencies were missing, and parks what waited too long"
  environment = {
    PENSTOCK_ERRORS_TABLE  = module.reading_store.errors[each.value.errors].name
    PENSTOCK_LEASES_TABLE  = local.readings["function_leases"].name
    PENSTOCK_PARKED_BUCKET = module.lake.parked_bucket.name
    PENSTOCK_PLAN          = module.spark["spark"].files[each.value.file]
    PENSTOCK_PLAN_SHA256   = filesha256(each.value.retry.plan) # a running function reads a changed plan
    PENSTOCK_RETRY_SECONDS = tostring(each.value.retry.retry_seconds)
    PENSTOCK_SERVICE       = each.key
    PENSTOCK_STAGED_TABLES = "${local.prefix}-{table}"
    PENSTOCK_WAITING_TABLE = module.reading_store.readings[each.value.waiting].name
  }
  log_days   = var.retention.log_days
  memory_mib = 512
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = { for name, way in local.egress : name => way if contains(["dynamodb", "s3"], name) }
  }
  package = {
    path           = "${var.functions.packages}/retry-lambda.zip"
    architecture   = var.functions.architecture
    python_version = var.functions.python_version
  }
  policy_json          = local.retry_policies[each.key]
  reserved_concurrency = var.functions.reserved_concurrency
  timeout_seconds      = 300

  permissions_boundary = var.permissions_boundary
}

module "retry_schedule" {
  source   = "../modules/function-schedule"
  for_each = local.joins

  name       = each.value.function
  account_id = var.account_id
  partition  = local.partition
  region     = var.contract.region
  expression = each.value.retry.schedule
  function   = { arn = module.retry[each.key].arn, name = module.retry[each.key].name }

  permissions_boundary = var.permissions_boundary
}
