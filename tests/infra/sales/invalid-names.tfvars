platform = local.platform
jobs = {
  consume = { commands = ["summarize"] }
  tides   = { commands = ["summarize"], reads = ["tides"] }
}
