platform = local.platform
jobs = {
  Films   = { arguments = { topics = "all" }, files = ["plain"], topics = ["sensor"], trigger = "often" }
  meters  = { dynamodb = { other = "" }, topics = ["meter", "sensor"] }
  refined = { current = false, refined = { query = "SELECT 1", table = "one" }, schedule = "rate(1 day)", topics = ["sensor"] }
}
