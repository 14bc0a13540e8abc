# What jobs and extensions take. This root knows no extension (infra/extensions): a file extensions.tf beside this one, which
# is the user's own, calls them with local.platform.
locals {
  # As penstock.spark.session.session_settings() has them.
  session_settings = jsondecode(file("${path.module}/../modules/session.json"))

  # The platform without what depends on jobs and clients. Functions, clients and jobs take this part; all of it would be
  # a cycle.
  base_platform = {
    account_id           = var.account_id
    deploy_role_arn      = var.deploy_role_arn
    partition            = local.partition
    permissions_boundary = var.permissions_boundary
    prefix               = local.prefix
    region               = var.contract.region

    brokers = {
      group_prefix = var.contract.group_prefix
      logins       = { for name, login in module.broker_access.logins : name => merge(login, { read_password = module.rights.read_passwords[name] }) }
      # One broker for each zone; bootstrap_servers has them once they are reachable.
      servers     = module.broker_access.servers
      tls_servers = module.broker_access.tls_servers
      topics      = var.contract.topics
    }
    functions = {
      architecture         = var.functions.architecture
      names                = keys(local.functions)
      packages             = var.functions.packages
      python_version       = var.functions.python_version
      reserved_concurrency = var.functions.reserved_concurrency
    }
    lake = {
      bucket        = module.lake.bucket
      database      = module.lake.database
      key_arn       = module.lake.key_arn
      parked_bucket = module.lake.parked_bucket
      # As DATABASE.TABLE.
      parked_records    = module.lake.parked_records
      query_limit_bytes = var.lake.query_limit_bytes
      workgroup         = module.lake.workgroup
    }
    network = {
      egress              = local.egress
      emr_buckets         = var.network.emr_buckets
      endpoint_policy     = module.network.endpoint_policy
      interface_endpoints = setunion(local.interface_endpoints, try(keys(var.network.existing.interface_endpoints), []))
      subnet_ids          = values(module.network.workload_subnet_ids)
      vpc_id              = module.network.vpc_id
    }
    registry  = { backups = join(" ", var.registry_backups), has_others = length(local.registries) > 0, urls = local.registry_urls }
    retention = var.retention
    # JSON lists of IAM statements, by what they allow.
    statements = module.rights.statements
    store      = { errors = module.reading_store.errors, leases = module.reading_store.readings["function_leases"], readings = module.reading_store.readings }
  }

  runs           = merge(values(module.job)[*].runs...)
  _plain_folders = flatten(values(module.job)[*].plain_folders)
  platform = merge(local.base_platform, {
    alarms  = { topic_arn = module.alarms.topic_arn }
    brokers = merge(local.base_platform.brokers, { bootstrap_servers = module.broker_access.bootstrap_servers })
    jobs = one([for spark in values(module.spark) : {
      application      = spark.application
      artifacts        = merge(spark.places, { configuration = local.session_settings })
      artifacts_bucket = spark.artifacts_bucket
      # By job: what it does with the catalog, its roles' policies, and its runs with the places of their artifacts.
      named = {
        for name, job in module.job : name => {
          lake     = job.lake
          plan     = module.job_tables.jobs[name].plan
          policies = job.policies
          runs     = { for run, made in job.runs : run => merge(made, spark.placed_runs[run]) }
        }
      }
      programs = var.spark.jobs
      retries  = local.retries
    }])
    lake = merge(local.base_platform.lake, {
      folders       = length(local._plain_folders) > 0 ? ["plain", "tables"] : ["tables"]
      plain_folders = local._plain_folders
      # By role: what it does with the catalog.
      principals = merge([for job in values(module.job) : {
        for role, permissions in job.lake_permissions : role => merge(permissions, { arn = module.spark["spark"].role_arns[role] })
      }]...)
      tables = merge(values(module.job)[*].lake_tables...)
    })
  })
}

module "rights" {
  source = "../modules/rights"

  account_id       = var.account_id
  backups          = var.registry_backups
  lake             = { bucket = module.lake.bucket, parked_bucket = module.lake.parked_bucket }
  partition        = local.partition
  prefix           = local.prefix
  reader_role_arn  = var.contract.registry.role_arn
  region           = var.contract.region
  registry_secrets = compact(local.registries[*].secret_arn)
  secret_names     = { for name, login in module.broker_access.logins : name => login.secret_name }
  store            = { errors = module.reading_store.errors, readings = module.reading_store.readings }
  upserts          = concat([for table, shape in module.row_shapes.shapes : table if shape.upserts], flatten(values(module.job_tables.jobs)[*].names))
  writers = merge(
    { for name, function in local.functions : name => { errors = function.errors, reads = false, tables = [function.table] } },
    { for name, tables in module.job_tables.jobs : name => { errors = tables.errors, reads = tables.waiting != null, tables = tables.dynamodb } },
  )
}
