# A count that is missing changes no state: an alarm stays as it is until the next count, and `status-errors` and
# `status-silent` report that nothing was counted.
locals {
  _gauge = { namespace = "Penstock", statistic = "Maximum", minutes = var.status.minutes, missing = "ignore", section = "what-is-open" }

  kept_events = {
    for name, producer in var.producers : "${name}-kept-events" => merge(local._gauge, {
      description = "The bucket keeps more than ${var.status.kept_events} events that ${producer.function} did not write. See why with `penstock rejected list ${producer.function}/`, fix the cause, then `penstock rejected replay ${producer.function}/`."
      metric      = "KeptEvents", threshold = var.status.kept_events
      dimensions  = { FunctionName = producer.function }
    })
  }

  versions_left = {
    for name, schema in local._budgets : "${name}-versions-left" => merge(local._gauge, {
      description = "The schema ${schema.schema} has fewer than ${schema.few} of ${schema.budget} versions left${schema.grows ? ", or as small a share of the characters of a version" : ""}, without which new shapes of events are rejected. See with `penstock schema diff ${schema.schema}` which field keeps changing${schema.grows ? " and whether data became names of fields" : ""}, or raise version_budget."
      metric      = "VersionsLeft", statistic = "Minimum", threshold = schema.few, comparison = "LessThanThreshold"
      dimensions  = { FunctionName = var.producers[name].function, Schema = schema.schema }
    })
  }

  dead_letters = {
    for name, table in var.tables : "${name}-open" => merge(local._gauge, {
      description = "More than ${var.status.dead_letters} dead letters are open in ${table.name}. See them with `penstock errors list --table ${table.name}`; docs/operate/failed-records.md#reasons says who fixes what; then run the replay of the job that owns the table. Change data capture has none: see docs/cdc.md#changes-that-are-given-up."
      metric      = "OpenDeadLetters", threshold = var.status.dead_letters
      dimensions  = { Table = table.name }
    })
  }

  # Of the function itself: one count that fails is not worth a message, since the next one is due soon.
  function = {
    status-errors = {
      description = "Something could not be counted three times in a row, so its alarm keeps an old state; read /aws/lambda/${local.name}."
      namespace   = "AWS/Lambda", metric = "Errors", minutes = var.status.minutes, periods = 3
      dimensions  = { FunctionName = local.name }
      section     = "what-is-open"
    }
    status-silent = {
      description = "The function ${local.name} was not invoked for three times its interval (insufficient data), so the alarms on what is open keep an old state; see whether its schedule is on, what its group drops, and whether Lambda throttles the function."
      namespace   = "AWS/Lambda", metric = "Invocations", minutes = var.status.minutes, periods = 3
      dimensions  = { FunctionName = local.name }
      comparison  = "LessThanThreshold", threshold = 1, missing = "missing", silence = true, section = "what-is-open"
    }
  }
}

module "alarms" {
  source = "../metric-alarms"

  prefix    = var.platform.prefix
  alarms    = merge(local.kept_events, local.versions_left, local.dead_letters, local.function)
  topic_arn = var.platform.alarms.topic_arn
}
