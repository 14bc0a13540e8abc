platform = local.platform
jobs = {
  Figures = { commands = ["sell"], output_table = "Totals", parameters = { "output-topic" = "" }, reads = [], trigger = "often" }
  consume = { commands = ["totals"], schedules = { totals = "rate(1 day)" } }
}
