# Derived from the maps of functions, jobs and tables: settings, folders, names of runs, and the writers of each table.
locals {
  # The function `consumer` and the job `consume` share a dead-letter table, as do `consumer-NAME` and the job NAME.
  functions = {
    for name, function in var.consumer_functions : name => {
      errors     = name == "consumer" ? "errors" : "${trimprefix(name, "consumer-")}-errors"
      function   = "${local.prefix}-${name}"
      memory_mib = coalesce(function.memory_mib, var.functions.memory_mib)
      table      = function.table
      topics     = coalesce(function.topics, var.contract.topics)
    }
  }

  _any_schema = "*"
  _kinds      = { for name, job in var.jobs : name => job.staging == null ? "consume" : "stage" }
  _own_tables = { for name, job in var.jobs : name => distinct(values(job.writes)) }
  jobs = {
    for name, job in var.spark == null ? {} : var.jobs : name => {
      arguments = job.arguments
      # What it writes to DynamoDB is in the lake too, unless a plan says otherwise.
      lake       = sort(try([for table, made in local.staged[name] : table if made.lake], local._own_tables[name]))
      checkpoint = "checkpoints/${coalesce(job.checkpoint, name)}"
      # A replay takes every open row of its dead-letter table, so jobs with other tables need another one.
      errors = name == "consume" ? "errors" : "${name}-errors"
      # The program by whose name its flags and workers are set.
      kind    = local._kinds[name]
      program = coalesce(job.program, local._kinds[name])
      reads   = job.reads
      replay  = name == "consume" ? "replay" : "replay-${name}"
      # With routes each schema has a table of its own; a schema without a route is a dead letter.
      routes = { for schema, table in job.writes : schema => table if schema != local._any_schema }
      # By program, or by command for sales.
      schedules = job.schedules
      table     = lookup(job.writes, local._any_schema, "{table}")
      tables    = sort(try([for table, made in local.staged[name] : table if made.dynamodb], local._own_tables[name]))
      trigger   = job.trigger
      workers   = job.workers
    } if job.sales == null
  }
  lake_tables = sort(flatten(values(local.jobs)[*].lake))

  # What is not set here has the default of the code, the reading of a sensor.
  tables = merge({
    for table in setunion(values(local.functions)[*].table, flatten([for name in keys(local.jobs) : local._own_tables[name]])) : table => {
      hash_key  = try(coalesce(var.tables[table].key_name, var.tables[table].key[0]), "deviceId")
      range_key = try(var.tables[table].sort_name, null) == "none" ? null : try(coalesce(var.tables[table].sort_name), "readingId")
      settings = { for flag, value in {
        deleted-when = try("${var.tables[table].deleted_when.field}=${join(",", var.tables[table].deleted_when.values)}", null)
        event-time   = try(var.tables[table].event_time, null)
        key          = try(join(",", var.tables[table].key), null)
        key-format   = try(var.tables[table].key_format, null)
        key-name     = try(var.tables[table].key_name, null)
        mode         = try(var.tables[table].mode, null)
        order        = try(join(",", var.tables[table].order), null)
        sort         = try(join(",", var.tables[table].sort), null)
        sort-name    = try(var.tables[table].sort_name, null)
        tombstone    = try(var.tables[table].tombstone, null)
      } : flag => value if value != null }
      upserts = try(var.tables[table].mode, null) == "upsert"
    }
  }, values(local.staged)...)
}
