# The Spark jobs: artifacts, arguments, application.
locals {
  # Flags, by program, that need no right and that no other input sets.
  free_flags = {
    consume       = ["dynamodb-rows-per-second", "group-prefix", "max-offsets-per-trigger", "on-lost-offsets", "starting", "topic-pattern"]
    maintain_lake = ["file-mib", "keep-hours", "orphan-hours"]
    replay        = ["dynamodb-rows-per-second"]
    stage         = ["dynamodb-rows-per-second", "group-prefix", "max-offsets-per-partition", "max-offsets-per-trigger", "on-lost-offsets", "starting"]
  }
  # The programs of a job, by its kind: a job with staging has no replay.
  programs = { consume = ["consume", "maintain_lake", "replay"], sales = ["sales"], stage = ["maintain_lake", "stage"] }
  _free_words = {
    for name, job in local.jobs : name => {
      for program in keys(local.free_flags) : program => flatten([
        for flag, value in lookup(job.arguments, program, {}) : ["--${flag}", value]
      ])
    }
  }

  # As penstock.spark.session.session_settings() has them.
  session_settings = jsondecode(file("${path.module}/../modules/session.json"))

  _lake_bucket = "s3://${module.lake.bucket.name}"

  # The jobs of the cluster, with their replays and maintenance.
  roles_on_cluster = flatten([for job in try(var.spark.cluster.jobs, []) : [job, "${job}-replay", "${job}-maintain"]])

  # The sinks of a job, for each program that writes its records.
  _sinks = {
    for name, job in local.jobs : name => concat(
      [
        "--lake-table", "${module.lake.database.name}.${job.table}",
        "--dynamodb-table", "${local.prefix}-${job.table}",
        "--errors-table", module.reading_store.errors[job.errors].name,
        "--parked-bucket", module.lake.parked_bucket.name,
      ],
      lookup(local._plain_flags, name, []),
      contains(keys(local.staged), name) ? ["--plan", "${name}-plan.json"] : [],
      contains(keys(local.joins), name) ? ["--waiting-table", "${local.prefix}-${local.joins[name].waiting}", "--retry-seconds", tostring(local.joins[name].retry.retry_seconds)] : [],
      length(job.routes) > 0 ? ["--route", join(",", [for schema, table in job.routes : "${schema}=${table}"])] : [],
      length(distinct([for table in job.tables : jsonencode(local.tables[table].settings)])) <= 1 ? flatten([
        for flag, value in try(local.tables[job.tables[0]].settings, {}) : ["--${flag}", value]
      ]) : ["--shapes", join(";", flatten([for table in job.tables : [for flag, value in local.tables[table].settings : "${table}.${flag}=${value}"]]))],
      ["--contract", "contract.json"],
      length(var.registry_backups) > 0 ? ["--registry-backups", join(" ", var.registry_backups)] : [],
    )
  }

  runs = merge(local._sales_runs, flatten([
    for name, job in local.jobs : [
      {
        (name) = {
          arguments = concat(
            local._sinks[name],
            job.reads == null ? [] : ["--topics", join(",", job.reads)],
            [
              "--secret-arn", module.broker_access.secret_arn,
              "--checkpoint", "${local._lake_bucket}/${job.checkpoint}",
              "--service", name,
              "--trigger", job.trigger,
            ],
            local._free_words[name][job.kind],
          )
          program   = job.program
          role      = name
          schedule  = lookup(job.schedules, job.kind, null)
          streaming = job.trigger != "available-now"
          workers   = try(job.workers[job.kind], null)
        }
      },
      # A replay writes by --route and --shapes, not by a plan.
      {
        for run in contains(keys(local.staged), name) ? [] : [job.replay] : run => {
          arguments = concat(
            local._sinks[name],
            [
              "--consume-checkpoint", "${local._lake_bucket}/${job.checkpoint}",
              "--keep-settled-days", tostring(var.retention.settled_days),
            ],
            local._free_words[name].replay,
          )
          program   = "replay"
          role      = "${name}-replay"
          schedule  = lookup(job.schedules, "replay", null)
          streaming = false
          workers   = try(job.workers["replay"], null)
        }
      },
      {
        for table in job.lake : "maintain-${table}" => {
          arguments = concat(["--lake-table", "${module.lake.database.name}.${table}"], local._free_words[name].maintain_lake)
          program   = "maintain_lake"
          role      = "${name}-maintain"
          schedule  = null
          streaming = false
          workers   = try(job.workers["maintain_lake"], null)
        }
      },
      # One run for all its tables, one after the other, in place of as many runs at once.
      {
        for expression in compact([lookup(job.schedules, "maintain_lake", null)]) : "${name}-maintain" => {
          arguments = concat(["--lake-table", join(",", [for table in job.lake : "${module.lake.database.name}.${table}"])], local._free_words[name].maintain_lake)
          program   = "maintain_lake"
          role      = "${name}-maintain"
          schedule  = expression
          streaming = false
          workers   = try(job.workers["maintain_lake"], null)
        } if length(job.lake) > 0
      },
    ]
  ])...)
}

module "spark" {
  source   = "../modules/spark-application"
  for_each = var.spark == null ? {} : { spark = var.spark }

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  application = each.value.application
  artifacts = {
    # Nobody promises boto3 in EMR's own Python.
    archives      = { packages = "${var.functions.packages}/penstock-boto3.zip" }
    configuration = local.session_settings
    files = merge(
      { "contract.json" = jsonencode({ contract = { for key, value in var.contract : key => value if value != null } }) },
      { for name in keys(local.staged) : "${name}-plan.json" => file(var.jobs[name].staging.plan) },
    )
    image_jars = each.value.image_jars
    jars       = { for jar in fileset(each.value.jars, "*.jar") : trimsuffix(jar, ".jar") => "${each.value.jars}/${jar}" }
    programs   = { for program in distinct(values(local.runs)[*].program) : program => "${each.value.jobs}/${program == "sales" ? "sales/main" : program}.py" }
    pyfiles    = "${var.functions.packages}/penstock-pyfiles.zip"
  }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = local.egress
  }
  parameters = local.sales_parameters
  retention  = var.retention
  roles      = merge(local.job_policies, local.sales_policies)
  runs       = local.runs

  permissions_boundary = var.permissions_boundary
}

# A cluster for the jobs that are named, with the arguments, artifacts and rights that they have above.
module "emr" {
  source   = "../modules/emr-cluster"
  for_each = try(var.spark.cluster, null) == null ? {} : { emr = var.spark.cluster }

  prefix     = local.prefix
  account_id = var.account_id
  region     = var.contract.region
  artifacts = {
    archives      = values(module.spark["spark"].places.archives)
    bucket        = module.spark["spark"].artifacts_bucket.name
    configuration = local.session_settings
    jars          = module.spark["spark"].places.jars
    pyfiles       = module.spark["spark"].places.pyfiles
  }
  cluster = each.value
  network = {
    vpc_id    = module.network.vpc_id
    subnet_id = values(module.network.workload_subnet_ids)[0]
    egress    = local.egress
  }
  parameters_path = length(setintersection(each.value.jobs, keys(local.sales))) > 0 ? "/${local.prefix}" : null
  policies        = { for role, policy in merge(local.job_policies, local.sales_policies) : role => policy if contains(local.roles_on_cluster, role) }
  retention       = var.retention
  runs = {
    for name, run in local.runs : name => {
      arguments = [for word in run.arguments : lookup(module.spark["spark"].files, word, word)]
      program   = module.spark["spark"].places.programs[run.program]
    } if contains(local.roles_on_cluster, run.role)
  }

  permissions_boundary = var.permissions_boundary
}
