# Lake Formation's permissions of every role that works on the lake, where it decides on the Glue catalog.
locals {
  # A job and its replay make tables, a maintenance alters them: an UpdateTable is a commit of Iceberg.
  _writes = { database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
  _jobs_on_the_lake = {
    for role, permissions in merge([
      for name, job in local.jobs : {
        (name)             = local._writes
        "${name}-replay"   = local._writes
        "${name}-maintain" = { database = [], tables = ["ALTER", "DESCRIBE"] }
      }
    ]...) : role => merge(permissions, { arn = module.spark["spark"].role_arns[role] }) if contains(keys(local.job_policies), role)
  }
  # A sales job reads one table and makes another.
  _sales_permissions = {
    for name, job in local.sales : name => job.output_table == null ? { database = ["DESCRIBE"], tables = ["DESCRIBE", "SELECT"] } : local._writes
    if job.table != null || job.output_table != null
  }
  _sales_on_the_lake = {
    for name, permissions in local._sales_permissions : name => merge(permissions, { arn = module.spark["spark"].role_arns[name] })
  }
  # Steps of a cluster have its one role, with what its jobs have together.
  _job_permissions = merge({ for name in keys(local.jobs) : name => local._writes }, local._sales_permissions)
  _clusters_on_the_lake = {
    for name, emr in module.emr : "cluster/${name}" => {
      arn      = emr.role_arn
      database = distinct(flatten([for job in var.spark.cluster.jobs : try(local._job_permissions[job].database, [])]))
      tables   = distinct(flatten([for job in var.spark.cluster.jobs : try(local._job_permissions[job].tables, [])]))
    }
  }
  # No job has a name with a slash.
  lake_principals = merge(
    local._jobs_on_the_lake,
    local._sales_on_the_lake,
    local._clusters_on_the_lake,
    {
      for name, crawler in module.parquet_crawler : "crawler/${name}" => {
        arn = crawler.role_arn, database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE"]
      }
    },
    {
      for name, function in module.quality : "function/${name}" => {
        arn = "arn:${local._partition}:iam::${var.account_id}:role/${function.role_name}", database = ["DESCRIBE"], tables = ["DESCRIBE", "SELECT"]
      }
    },
    {
      for name, function in module.sync : "function/${name}" => {
        arn = "arn:${local._partition}:iam::${var.account_id}:role/${function.role_name}", database = ["DESCRIBE"], tables = ["ALTER", "DESCRIBE"]
      }
    },
  )
}

module "lake_grants" {
  source   = "../modules/lake-grants"
  for_each = var.lake.grants == null ? {} : { lake = var.lake.grants }

  prefix            = local.prefix
  account_id        = var.account_id
  region            = var.contract.region
  analysts          = each.value.analysts
  bucket            = module.lake.bucket
  database          = module.lake.database
  deploy_role_arn   = var.deploy_role_arn
  folders           = length(local.plain) > 0 ? ["plain", "tables"] : ["tables"]
  force_destroy     = var.retention.force_destroy
  kms_key_arn       = module.lake.key_arn
  principals        = local.lake_principals
  query_limit_bytes = var.lake.query_limit_bytes
  readers           = each.value.readers

  permissions_boundary = var.permissions_boundary
}
