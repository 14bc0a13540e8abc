platform = local.platform
analysts = {
  Nobody = { principals = [] }
  both   = { principals = ["222222222222"], tables = { orders = { excluded_columns = ["a"], included_columns = ["b"] } } }
}
readers = ["reports"]
