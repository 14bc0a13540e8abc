# Derived from the map of jobs: tables, folders, names of runs, and the writers of each table.
locals {
  # The tables of the consumer function, which the job `consume` shares.
  table_of_all = "readings"
  errors       = "errors"

  _any_schema = "*"
  jobs = {
    for name, job in var.spark == null ? {} : var.jobs : name => {
      arguments  = job.arguments
      checkpoint = "checkpoints/${coalesce(job.checkpoint, name)}"
      # A replay takes every open row of its error table, so jobs with other tables need another one.
      errors     = name == "consume" ? local.errors : "${name}-errors"
      event_time = job.event_time
      program    = job.program
      reads      = job.reads
      replay     = name == "consume" ? "replay" : "replay-${name}"
      # With routes each schema has a table of its own; a schema without a route is a dead letter.
      routes  = { for schema, table in job.writes : schema => table if schema != local._any_schema }
      table   = lookup(job.writes, local._any_schema, "{table}")
      tables  = sort(distinct(values(job.writes)))
      trigger = job.trigger
    }
  }
  tables = sort(flatten(values(local.jobs)[*].tables))
}
