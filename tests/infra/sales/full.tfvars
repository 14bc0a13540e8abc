platform = local.platform
jobs = {
  review = { commands = ["lake-summary"], schedules = { lake-summary = "cron(0 5 * * ? *)" }, table = "orders" }
  sales = {
    commands     = ["generate", "lake-windows"]
    output_table = "sales_totals"
    parameters   = { by = "region" }
    reads        = ["sensor"]
    table        = "orders"
    trigger      = "30 seconds"
    workers      = { max_executors = 2 }
  }
}
