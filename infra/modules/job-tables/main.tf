# The tables of each job: those that it names in writes, or those of its plan (docs/staging.md).
locals {
  _plans = { for name, job in var.jobs : name => try(jsondecode(file(job.staging.plan)), { tables = [] }) if job.staging != null }
  # The second names are those of older programs, which become names as penstock.extensions.staging.configuration makes them.
  _named = {
    for name, plan in local._plans : name => {
      for table in plan.tables : try(table.name, replace(lower(table.target_table_name), "/[^a-z0-9_]/", "_")) => {
        final     = try(table.final, null)
        fixed     = merge({ event_time = "" }, { for attribute in ["key", "key_format", "order", "sort"] : attribute => try(join(",", flatten([table[attribute]])), "") })
        hash_key  = try(table.key_name, flatten([table.key])[0])
        range_key = try(table.sort_name, flatten([table.sort])[0], null)
        sinks     = try(table.sinks, ["dynamodb"])
      }
    }
  }
  _finals = { for name, tables in local._named : name => compact(values(tables)[*].final) }
  # A final table has the keys of its driver, and joined rows go to DynamoDB alone.
  _staged = {
    for name, tables in local._named : name => merge(
      tables,
      { for made in values(tables) : made.final => merge(made, { sinks = ["dynamodb"] }) if made.final != null },
    )
  }
  # Of a plan with joins: the rows of drivers that wait, by what they wait for.
  _waiting = { for name, finals in local._finals : name => "${replace(name, "-", "_")}_waiting" if length(finals) > 0 }

  # What a job writes to DynamoDB is in the lake too, unless a plan says otherwise.
  jobs = {
    for name, job in var.jobs : name => {
      dynamodb = sort(try([for table, made in local._staged[name] : table if contains(made.sinks, "dynamodb")], distinct(values(job.writes))))
      # The function consumer and the job consume share a dead-letter table, as do consumer-NAME and the job NAME. A
      # replay takes every open row of it, so jobs with other tables need another one.
      errors = name == "consume" ? "errors" : "${name}-errors"
      finals = try(local._finals[name], [])
      lake   = sort(try([for table, made in local._staged[name] : table if contains(made.sinks, "lake")], distinct(values(job.writes))))
      # Of a plan: its tables, with the names that attributes have today.
      plan = [
        for table in try(local._plans[name].tables, []) : merge(table, {
          columns    = try(table.columns, table.column_names, [])
          lower_case = try(table.lower_case, can(table.column_names))
          name       = try(table.name, replace(lower(table.target_table_name), "/[^a-z0-9_]/", "_"))
          topics     = try(table.topics, [table.topic_name], [])
        })
      ]
      # Of a plan: all names, and in DynamoDB the keys.
      names = concat(try(keys(local._staged[name]), []), lookup(local._waiting, name, null)[*])
      stored = merge(
        { for table, made in try(local._staged[name], {}) : table => { fixed = made.fixed, hash_key = made.hash_key, range_key = made.range_key, ttl_attribute = null } if contains(made.sinks, "dynamodb") },
        { for table in lookup(local._waiting, name, null)[*] : table => { hash_key = "waitingFor", range_key = "driver", ttl_attribute = "expiresAt" } },
      )
      waiting = lookup(local._waiting, name, null)
    }
  }

  # A table of a plan is of that job alone.
  other_names = setunion(["dead_letters", "errors", "function_leases", "parked_records"], values(var.functions), flatten([for job in values(var.jobs) : values(job.writes)]))
  names       = concat(tolist(local.other_names), flatten(values(local.jobs)[*].names))
}
