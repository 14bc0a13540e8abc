# Jobs of change data capture (docs/cdc.md) in the platform's Spark application: a run for each, their tables and their rights.
locals {
  programs = { for program in ["cdc", "maintain_lake"] : program => "${var.platform.jobs.programs}/${program}.py" }

  _lake_url = "s3://${var.platform.lake.bucket.name}"
  _database = var.platform.lake.database.name

  # Flags that need no right and that no other input sets.
  free_flags = ["current-buckets", "file-records", "max-offsets-per-trigger", "on-lost-offsets", "remembered-days", "starting", "unavailable-value"]

  # That of the job, or that of all jobs.
  _logins = { for name in keys(var.jobs) : name => lookup(var.platform.brokers.logins, name, lookup(var.platform.brokers.logins, "jobs", null)) }

  # As penstock.tables.name_table names them.
  names = { for name, job in var.jobs : name => { for topic in job.topics : topic => lower(replace(topic, "/[^0-9A-Za-z_]+/", "_")) } }

  # Tables of the lake: current ones and histories, each with keys of deleted rows, and the refined one.
  _made = flatten([
    for name, job in var.jobs : concat(
      [for topic, table in local.names[name] : [for made in concat(
        job.current ? [table, "${table}_deleted"] : [],
        job.history ? ["${table}_history", "${table}_history_deleted"] : [],
      ) : { by = topic, job = name, table = made }]],
      job.refined == null ? [] : [[{ by = "refined of ${name}", job = name, table = job.refined.table }]],
    )
  ])
  lake_tables = { for name in keys(var.jobs) : name => [for made in local._made : made.table if made.job == name] }
  made_by     = { for made in local._made : made.table => made.by... }

  _outputs = {
    for name, job in var.jobs : name => concat(
      job.current ? ["--current-table", "${local._database}.{table}"] : [],
      job.history ? ["--history-table", "${local._database}.{table}_history"] : [],
      length(job.dynamodb) > 0 ? ["--current-dynamodb-table", "${var.platform.prefix}-{table}"] : [],
      flatten([for files in sort(tolist(job.files)) : ["--${files}-path", "${local._lake_url}/cdc/${name}/${files}"]]),
      job.refined == null ? [] : [
        "--refined-table", "${local._database}.${job.refined.table}",
        "--refined-query", job.refined.query,
      ],
      try(job.refined.by, null) == null ? [] : ["--refined-by", job.refined.by],
    )
  }

  captures = {
    for name, job in var.jobs : name => {
      arguments = concat(
        local._outputs[name],
        [
          "--topics", join(",", sort(tolist(job.topics))),
          "--errors-table", var.platform.store.errors["${name}-errors"].name,
          "--parked-bucket", var.platform.lake.parked_bucket.name,
          "--contract", "contract.json",
          "--group-prefix", local._logins[name].group_prefix,
          "--secret-arn", local._logins[name].secret_arn,
          "--checkpoint", "${local._lake_url}/cdc/${name}/checkpoint",
          "--service", name,
        ],
        # The contract names the brokers' ports for SCRAM.
        local._logins[name].security == "tls" ? ["--security", "tls", "--bootstrap-servers", var.platform.brokers.tls_servers] : [],
        var.platform.registry.backups == "" ? [] : ["--registry-backups", var.platform.registry.backups],
        job.trigger == null ? [] : ["--trigger", job.trigger],
        flatten([for flag, value in job.arguments : ["--${flag}", value]]),
      )
      program   = "s3://${aws_s3_object.program["cdc"].bucket}/${aws_s3_object.program["cdc"].key}"
      role      = name
      schedule  = job.schedule
      streaming = job.trigger != "available-now"
      workers   = job.workers
    }
  }

  # Files of a table that changes pile up: docs/cdc.md#maintenance. A table comes with its first record.
  _maintenance = {
    for name, tables in local.lake_tables : "${name}-maintain" => {
      arguments = ["--lake-table", join(",", [for table in tables : "${local._database}.${table}"]), "--if-there"]
      program   = "s3://${aws_s3_object.program["maintain_lake"].bucket}/${aws_s3_object.program["maintain_lake"].key}"
      role      = "${name}-maintain"
      schedule  = var.jobs[name].maintain
      streaming = false
      workers   = null
    } if length(tables) > 0
  }
  runs = merge(local.captures, local._maintenance)

  alarms = merge([
    for name in keys(var.jobs) : {
      # As that of the jobs of the platform (infra/modules/job).
      "${name}-behind" = {
        description = "More than ${var.lag_records} records of a partition waited for the job of change data capture ${name} after each batch that ended within 15 minutes, or after its last batch; give it more executors (max_executors). See docs/operate/alarms.md#how-far-behind-consumers-are."
        namespace   = "Penstock", metric = "RecordsBehind", statistic = "Minimum"
        dimensions  = { service = name }
        threshold   = var.lag_records, minutes = 15, missing = "ignore"
      }
      "${name}-failing" = {
        description = "A batch of the job of change data capture ${name} ended it with an error, and EMR starts a stream again, without end if it fails less than five times an hour. Its log says why. See docs/operate/alarms.md#spark-jobs."
        namespace   = "Penstock", metric = "BatchesFailed"
        dimensions  = { service = name }
      }
      "${name}-given-up" = {
        description = "The job of change data capture ${name} could not read records: its tables may differ from the database until the connector takes a snapshot again. See docs/operate/failed-records.md#reasons."
        namespace   = "Penstock", metric = "PermanentErrors"
        dimensions  = { service = name }
      }
      "${name}-lost" = {
        description = "Kafka removed records before the job of change data capture ${name} read them: its tables may differ from the database. See docs/cdc.md#records-that-kafka-removed."
        namespace   = "Penstock", metric = "LostRecords"
        dimensions  = { service = name }
      }
    }
  ]...)
}

module "jobs" {
  source = "../../modules/spark-jobs"

  account_id  = var.platform.account_id
  application = var.platform.jobs.application
  partition   = var.platform.partition
  prefix      = var.platform.prefix
  region      = var.platform.region
  roles       = local.policies
  runs        = local.runs

  permissions_boundary = var.platform.permissions_boundary
}

module "alarms" {
  source = "../../modules/metric-alarms"

  alarms    = local.alarms
  prefix    = var.platform.prefix
  schedules = [for name, run in local.runs : "${var.platform.prefix}-run-${name}" if run.schedule != null]
  topic_arn = var.platform.alarms.topic_arn
}

# The platform has objects of its own for the programs of its jobs.
resource "aws_s3_object" "program" {
  for_each = local.programs

  bucket = var.platform.jobs.artifacts_bucket.name
  key    = "jobs/cdc/${each.key}.py"
  source = each.value
  # Not etag: the etag of an encrypted object is not a hash of its content.
  source_hash = filebase64sha256(each.value)

  # S3 takes ten tags of an object, and the bucket has them all.
  override_provider {
    default_tags {
      tags = {}
    }
  }
}
