# What extensions take (infra/extensions), none of which this root knows. A file extensions.tf beside this one, which is the
# user's own, calls them with local.platform.
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

  _job_of = merge([for name, job in local.jobs : { for table in job.lake : table => name }]...)

  platform = {
    account_id           = var.account_id
    deploy_role_arn      = var.deploy_role_arn
    partition            = local.partition
    permissions_boundary = var.permissions_boundary
    prefix               = local.prefix
    region               = var.contract.region

    alarms  = { topic_arn = module.alarms.topic_arn }
    brokers = { bootstrap_servers = module.broker_access.bootstrap_servers, secret_arn = module.broker_access.secret_arn }
    functions = {
      architecture         = var.functions.architecture
      names                = keys(local.functions)
      packages             = var.functions.packages
      python_version       = var.functions.python_version
      reserved_concurrency = var.functions.reserved_concurrency
    }
    jobs = one([for spark in values(module.spark) : { artifacts_bucket = spark.artifacts_bucket }])
    lake = {
      bucket        = module.lake.bucket
      database      = module.lake.database
      folders       = length(local._plain) > 0 ? ["plain", "tables"] : ["tables"]
      key_arn       = module.lake.key_arn
      parked_bucket = module.lake.parked_bucket
      # As DATABASE.TABLE.
      parked_records = module.lake.parked_records
      plain_folders  = flatten([for folders in values(local._plain) : values(folders)])
      # By role: what it does with the catalog. No job has a name with a slash.
      principals        = merge(local._jobs_on_the_lake, local._sales_on_the_lake, local._clusters_on_the_lake)
      query_limit_bytes = var.lake.query_limit_bytes
      # What is missing in a table may be dead letters of its job, or rows of the job's other tables (beside).
      tables = {
        for table, name in local._job_of : table => {
          beside = length(local.jobs[name].routes) == 0 ? [] : [for other in local.jobs[name].lake : other if other != table]
          errors = module.reading_store.errors[local.jobs[name].errors]
          staged = local.jobs[name].kind == "stage"
        }
      }
      workgroup = module.lake.workgroup
    }
    network = {
      egress              = local.egress
      endpoint_policy     = module.network.endpoint_policy
      interface_endpoints = setunion(local.interface_endpoints, try(keys(var.network.existing.interface_endpoints), []))
      subnet_ids          = values(module.network.workload_subnet_ids)
      vpc_id              = module.network.vpc_id
    }
    registry  = { backups = join(" ", var.registry_backups), has_others = length(local.registries) > 0, urls = local.registry_urls }
    retention = var.retention
    # Of IAM policies, as JSON lists.
    statements = {
      hold_lease            = jsonencode(local._hold_function_lease)
      read_backups          = jsonencode(local._read_backups)
      read_password         = jsonencode(local._read_password)
      read_registry_secrets = jsonencode(local._read_registry_secrets)
      read_schemas          = jsonencode([local._read_schemas])
      use_lake_key          = jsonencode([local._use_lake_key])
    }
    store = { leases = local.readings["function_leases"] }
  }
}
