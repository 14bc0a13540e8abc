# Jobs of sales (docs/sales.md) in the platform's Spark application: a run for each command, their parameters and their rights.
locals {
  commands = jsondecode(file("${path.module}/../../modules/sales.json"))
  program  = "${var.platform.jobs.programs}/sales/main.py"

  _lake     = var.platform.lake.bucket.arn
  _database = var.platform.lake.database.name
  _glue     = "arn:${var.platform.partition}:glue:${var.platform.region}:${var.platform.account_id}"
  _catalog  = ["${local._glue}:catalog", "${local._glue}:database/${local._database}"]
  _tables   = "${local._glue}:table/${local._database}"

  _folders = { for name in keys(var.jobs) : name => "sales/${name}" } # of files, results and checkpoints
  paths    = { for name in keys(var.jobs) : name => "/${var.platform.prefix}/${name}" }

  # That of the job, or that of all jobs.
  _logins = { for name in keys(var.jobs) : name => lookup(var.platform.brokers.logins, name, lookup(var.platform.brokers.logins, "jobs", null)) }

  # What the commands read from Parameter Store; they ignore what they have no flag for.
  parameters = {
    for name, job in var.jobs : name => merge(
      {
        bootstrap_servers = local._logins[name].security == "tls" ? var.platform.brokers.tls_servers : var.platform.brokers.bootstrap_servers
        bucket            = "s3://${var.platform.lake.bucket.name}/${local._folders[name]}"
        group_prefix      = local._logins[name].group_prefix
        secret_arn        = local._logins[name].secret_arn
        security          = local._logins[name].security
        topics            = join(",", coalesce(job.reads, local._logins[name].topics))
      },
      { for key, table in { table = job.table, output_table = job.output_table } : key => "${local._database}.${table}" if table != null },
      job.parameters,
    )
  }

  runs = merge([
    for name, job in var.jobs : {
      for command in job.commands : "${name}-${command}" => {
        arguments = concat(
          [command, "--parameters", local.paths[name]],
          !contains(local.commands.streams, command) ? [] : concat(
            ["--checkpoint", "s3://${var.platform.lake.bucket.name}/${local._folders[name]}/checkpoints/${command}"],
            job.trigger == null ? [] : ["--trigger", job.trigger],
          ),
        )
        program   = "s3://${aws_s3_object.program.bucket}/${aws_s3_object.program.key}"
        role      = name
        schedule  = lookup(job.schedules, command, null)
        streaming = contains(local.commands.streams, command) && job.trigger != "available-now"
        workers   = job.workers
      }
    }
  ]...)

  # What reads sales; those in JSON have no schema. Columns of totals, each with the fields that it is made of.
  _in_json  = ["summarize", "totals", "windows"]
  _of_sales = concat(["enrich", "lake-summary", "lake-totals", "lake-windows"], local._in_json)
  _totals   = { country = ["country"], orders = ["amount"], region = ["country"], sales = ["amount"], window_end = [], window_start = [] }
  readers = {
    for run, made in local.runs : run => {
      fields = [for field in ["amount", "country", "payment_id"] : field if !contains(local._in_json, made.arguments[0])]
      tables = [for table in var.jobs[made.role].table[*] : "${local._database}.${table}" if startswith(made.arguments[0], "lake-")]
      topics = [for topic in split(",", local.parameters[made.role].topics) : topic if !startswith(made.arguments[0], "lake-")]
      writes = { for table in var.jobs[made.role].output_table[*] : "${local._database}.${table}" => local._totals if contains(["enrich", "lake-totals", "lake-windows"], made.arguments[0]) }
    } if contains(local._of_sales, made.arguments[0])
  }

  policies = {
    for name, job in var.jobs : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        jsondecode(local._logins[name].read_password), jsondecode(var.platform.statements.see_lake), jsondecode(var.platform.statements.use_lake_key),
        [{
          Sid    = "KeepItsFiles"
          Effect = "Allow"
          Action = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
          # Spark also looks up the folder above its checkpoint's.
          Resource = concat(["${local._lake}/sales", "${local._lake}/${local._folders[name]}", "${local._lake}/${local._folders[name]}/*"], [for table in job.output_table[*] : "${local._lake}/tables/${table}/*"])
        }],
        [for table in job.table[*] : {
          Sid      = "ReadRowsOfTheLake"
          Effect   = "Allow"
          Action   = ["s3:GetObject"]
          Resource = ["${local._lake}/tables/${table}/*"]
        }],
        [for table in job.table[*] : {
          Sid      = "SeeTheTable"
          Effect   = "Allow"
          Action   = ["glue:GetDatabase", "glue:GetTable"]
          Resource = concat(local._catalog, ["${local._tables}/${table}"])
        }],
        [for table in job.output_table[*] : {
          Sid      = "KeepTheTableOfTotals"
          Effect   = "Allow"
          Action   = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
          Resource = concat(local._catalog, ["${local._tables}/${table}"])
        }],
      )
    })
  }

  # A job reads one table and makes another.
  permissions = {
    for name, job in var.jobs : name => job.output_table != null ? {
      database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"]
    } : job.table != null ? { database = ["DESCRIBE"], tables = ["DESCRIBE", "SELECT"] } : { database = [], tables = [] }
  }
}

module "jobs" {
  source = "../../modules/spark-jobs"

  account_id  = var.platform.account_id
  application = var.platform.jobs.application
  parameters  = local.parameters
  partition   = var.platform.partition
  prefix      = var.platform.prefix
  region      = var.platform.region
  roles       = local.policies
  runs        = local.runs

  permissions_boundary = var.platform.permissions_boundary
}

module "alarms" {
  source = "../../modules/metric-alarms"

  prefix    = var.platform.prefix
  schedules = [for name, run in local.runs : "${var.platform.prefix}-run-${name}" if run.schedule != null]
  topic_arn = var.platform.alarms.topic_arn
}

resource "aws_s3_object" "program" {
  bucket = var.platform.jobs.artifacts_bucket.name
  key    = "jobs/sales.py"
  source = local.program
  # Not etag: the etag of an encrypted object is not a hash of its content.
  source_hash = filebase64sha256(local.program)

  # S3 takes ten tags of an object, and the bucket has them all.
  override_provider {
    default_tags {
      tags = {}
    }
  }
}
