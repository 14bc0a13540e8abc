# A Spark job that reads topics into tables: its tables, the arguments of its runs, and what is watched. Rights are in
# policies.tf.
locals {
  # The Kafka login of the job: its own if it has one, else that of all jobs, whose topics and groups are those of the
  # contract for jobs.
  login   = lookup(var.platform.brokers.logins, var.name, lookup(var.platform.brokers.logins, "jobs", null))
  _is_own = contains(keys(var.platform.brokers.logins), var.name)

  _kind     = var.job.staging == null ? "consume" : "stage"
  is_plan   = var.job.staging != null
  plan_file = "${var.name}-plan.json"
  # A job with staging has no replay.
  programs_of = { consume = ["consume", "maintain_lake", "replay"], stage = ["maintain_lake", "stage"] }
  # Flags, by program, that need no right and that no other input sets.
  free_flags = {
    consume       = ["dynamodb-rows-per-second", "group-prefix", "max-offsets-per-trigger", "on-lost-offsets", "starting", "topic-pattern"]
    maintain_lake = ["delete-files", "file-mib", "keep-hours", "orphan-hours"]
    replay        = ["dynamodb-rows-per-second"]
    stage         = ["dynamodb-rows-per-second", "group-prefix", "max-offsets-per-partition", "max-offsets-per-trigger", "on-lost-offsets", "starting"]
  }
  _free_words = {
    for program in keys(local.free_flags) : program => flatten([for flag, value in lookup(var.job.arguments, program, {}) : ["--${flag}", value]])
  }
  _program = coalesce(var.job.program, local._kind)
  # Null where the contract or a plan names them.
  _reads = var.job.reads == null && local._is_own && !local.is_plan ? local.login.topics : var.job.reads
  errors = var.platform.store.errors[var.tables.errors]

  _any_schema = "*"
  # With routes each schema has a table of its own; a schema without a route is a dead letter.
  routes = { for schema, table in var.job.writes : schema => table if schema != local._any_schema }
  # Those of a plan have the settings that it gives them.
  _shapes = [for table in var.tables.dynamodb : var.shapes[table] if !local.is_plan]

  _database   = var.platform.lake.database.name
  _lake_url   = "s3://${var.platform.lake.bucket.name}"
  _table      = lookup(var.job.writes, local._any_schema, "{table}")
  _checkpoint = "checkpoints/${coalesce(var.job.checkpoint, var.name)}"
  plain       = var.parquet ? { for table in var.tables.lake : table => "plain/${table}" } : {}

  # The sinks of the job, for each program that writes its records.
  _sinks = concat(
    [
      "--lake-table", "${local._database}.${local._table}",
      "--dynamodb-table", "${var.platform.prefix}-${local._table}",
      "--errors-table", local.errors.name,
      "--parked-bucket", var.platform.lake.parked_bucket.name,
    ],
    var.parquet ? ["--parquet-path", "${local._lake_url}/plain/${local._table}", "--parquet-table", "${local._database}.${local._table}_plain"] : [],
    local.is_plan ? ["--plan", local.plan_file] : [],
    var.tables.waiting == null ? [] : concat(
      ["--waiting-table", "${var.platform.prefix}-${var.tables.waiting}"],
      var.job.staging.retry_seconds == null ? [] : ["--retry-seconds", tostring(var.job.staging.retry_seconds)],
    ),
    var.job.transform == null ? [] : ["--transform", "${var.job.transform}.py"],
    length(local.routes) > 0 ? ["--route", join(",", [for schema, table in local.routes : "${schema}=${table}"])] : [],
    length(distinct([for shape in local._shapes : jsonencode(shape.settings)])) <= 1 ? flatten([
      for flag, value in try(local._shapes[0].settings, {}) : ["--${flag}", value]
    ]) : ["--shapes", join(";", flatten([for table in var.tables.dynamodb : [for flag, value in var.shapes[table].settings : "${table}.${flag}=${value}"]]))],
    ["--contract", "contract.json"],
    var.platform.registry.backups == "" ? [] : ["--registry-backups", var.platform.registry.backups],
  )

  _replay   = var.name == "consume" ? "replay" : "replay-${var.name}"
  _maintain = "${var.name}-maintain"
  # One run for all tables of a schedule, one after the other, in place of as many runs at once.
  _maintained = merge(
    { for table in var.tables.lake : "maintain-${table}" => { schedule = null, tables = [table] } },
    { for expression in compact([lookup(var.job.schedules, "maintain_lake", null)]) : local._maintain => { schedule = expression, tables = var.tables.lake } if length(var.tables.lake) > 0 },
  )
  runs = merge(
    {
      (var.name) = {
        arguments = concat(
          local._sinks,
          local._reads == null ? [] : ["--topics", join(",", local._reads)],
          local._is_own ? ["--group-prefix", local.login.group_prefix] : [],
          # The contract names the brokers' ports for SCRAM.
          local.login.security == "tls" ? ["--security", "tls", "--bootstrap-servers", var.platform.brokers.tls_servers] : [],
          ["--secret-arn", local.login.secret_arn, "--checkpoint", "${local._lake_url}/${local._checkpoint}", "--service", var.name],
          var.job.trigger == null ? [] : ["--trigger", var.job.trigger],
          local._free_words[local._kind],
        )
        program   = local._program
        role      = var.name
        schedule  = lookup(var.job.schedules, local._kind, null)
        streaming = var.job.trigger != "available-now"
        workers   = try(var.job.workers[local._kind], null)
      }
    },
    # A replay writes by --route and --shapes, not by a plan.
    {
      for run in local.is_plan ? [] : [local._replay] : run => {
        arguments = concat(
          local._sinks,
          ["--consume-checkpoint", "${local._lake_url}/${local._checkpoint}"],
          var.platform.retention.settled_days == null ? [] : ["--keep-settled-days", tostring(var.platform.retention.settled_days)],
          local._free_words.replay,
        )
        program   = "replay"
        role      = "${var.name}-replay"
        schedule  = lookup(var.job.schedules, "replay", null)
        streaming = false
        workers   = try(var.job.workers["replay"], null)
      }
    },
    {
      for run, maintained in local._maintained : run => {
        # A table comes with its first record.
        arguments = concat(["--lake-table", join(",", [for table in maintained.tables : "${local._database}.${table}"]), "--if-there"], local._free_words.maintain_lake)
        program   = "maintain_lake"
        role      = local._maintain
        schedule  = maintained.schedule
        streaming = false
        workers   = try(var.job.workers["maintain_lake"], null)
      }
    },
  )

  _job_alarms = {
    # Each batch tells it once, when it ends: until the next one, the alarm stays as it is.
    "${var.name}-behind" = {
      description = "More than ${var.lag_records} records of a partition waited for the Spark job ${var.name} after each batch that ended within 15 minutes, or after its last batch; give it more executors (max_executors)."
      namespace   = "Penstock", metric = "RecordsBehind", statistic = "Minimum"
      dimensions  = { service = var.name }
      threshold   = var.lag_records, minutes = 15, missing = "ignore"
    }
    "${var.name}-failing" = {
      description = "A batch of the Spark job ${var.name} ended it with an error, and EMR starts a stream again, without end if it fails less than five times an hour. Its log says why: see docs/operate/spark-job-stopped.md."
      namespace   = "Penstock", metric = "BatchesFailed"
      dimensions  = { service = var.name }
    }
    "${var.name}-given-up" = {
      description = "The Spark job ${var.name} put records into its table of errors that can never be a row; docs/operate/failed-records.md#reasons says what each reason means and who fixes it."
      namespace   = "Penstock", metric = "PermanentErrors"
      dimensions  = { service = var.name }
    }
    "${var.name}-lost" = {
      description = "The Spark job ${var.name} went on without records that Kafka deleted before it read them; its log names the offsets. Keep topics for longer, or give the job more executors."
      namespace   = "Penstock", metric = "LostRecords"
      dimensions  = { service = var.name }
    }
  }
  # What waits is a number of rows, and what was parked is a count.
  _join_alarms = {
    "${var.name}-waiting" = {
      description = "More than ${try(var.job.staging.waiting_records, 0)} rows of the drivers of ${var.name} have waited for a dependency for an hour; see with `penstock errors list` which ones (waitingFor), and whether the topics of those tables still get records."
      namespace   = "Penstock", metric = "RecordsWaiting", statistic = "Minimum"
      dimensions  = { service = var.name }
      threshold   = try(var.job.staging.waiting_records, 0), minutes = 60, missing = "ignore"
    }
    "${var.name}-joins-parked" = {
      description = "Rows of the drivers of ${var.name} were parked since a dependency was still missing at the last attempt; ask Athena for parked_records which one, and send the driver's record again once it is there."
      namespace   = "Penstock", metric = "RecordsParked"
      dimensions  = { service = var.name }
    }
  }
  alarms = merge(
    { for name, alarm in local._job_alarms : name => merge(alarm, { section = "spark-jobs" }) },
    { for name, alarm in local._join_alarms : name => merge(alarm, { section = "extensions" }) if var.tables.waiting != null },
  )
}
