# The functions and the Spark jobs that write tables.
locals {
  # The function consumer and the job consume share a dead-letter table, as do consumer-NAME and the job NAME.
  functions = {
    for name, function in var.consumer_functions : name => {
      errors     = name == "consumer" ? "errors" : "${trimprefix(name, "consumer-")}-errors"
      function   = "${local.prefix}-${name}"
      memory_mib = coalesce(function.memory_mib, var.functions.memory_mib)
      snap_start = function.snap_start
      table      = function.table
      topics     = function.topics
    }
  }

  jobs  = { for name, job in var.spark == null ? {} : var.jobs : name => job }
  joins = { for name, job in module.job : name => job.joins if job.joins != null }
  # The names of the functions that retry joins, and of their schedules.
  retries = flatten(values(module.retries)[*].names)
}

module "row_shapes" {
  source = "../modules/row-shapes"

  names  = setunion(values(local.functions)[*].table, flatten([for job in values(local.jobs) : values(job.writes)]))
  tables = var.tables
}

module "job_tables" {
  source = "../modules/job-tables"

  functions = { for name, function in local.functions : name => function.table }
  jobs      = local.jobs
}

module "job" {
  source   = "../modules/job"
  for_each = local.jobs

  job         = each.value
  lag_records = var.mapping.lag_records
  name        = each.key
  parquet     = contains(var.lake.parquet.jobs, each.key)
  platform    = local.base_platform
  programs    = var.spark.jobs
  shapes      = { for table, shape in module.row_shapes.shapes : table => shape if contains(values(each.value.writes), table) }
  tables      = module.job_tables.jobs[each.key]
  written     = module.rights.writers[each.key]
}

module "spark" {
  source   = "../modules/spark-application"
  for_each = var.spark == null ? {} : { spark = var.spark }

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  application = each.value.application
  artifacts = {
    # Nobody promises boto3 in EMR's own Python, and kafka is imported more slowly from a zip.
    archives      = { packages = "${var.functions.packages}/penstock-packages.zip" }
    configuration = local.session_settings
    files         = merge({ "contract.json" = jsonencode({ contract = { for key, value in var.contract : key => value if value != null } }) }, values(module.job)[*].files...)
    image_jars    = each.value.image_jars
    jars          = { for jar in fileset(each.value.jars, "*.jar") : trimsuffix(jar, ".jar") => "${each.value.jars}/${jar}" }
    programs      = { for program in distinct(values(local.runs)[*].program) : program => "${each.value.jobs}/${program}.py" }
    pyfiles       = "${var.functions.packages}/penstock-pyfiles.zip"
  }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = local.egress
  }
  retention = var.retention
  roles     = merge(values(module.job)[*].policies...)
  runs      = local.runs

  permissions_boundary = var.permissions_boundary
}

module "retries" {
  source   = "../modules/join-retries"
  for_each = module.spark

  artifacts_bucket = each.value.artifacts_bucket
  files            = each.value.places.files
  joins            = local.joins
  platform         = local.base_platform
}
