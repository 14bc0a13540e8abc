platform = local.platform
analysts = {
  Nobody = { principals = [], tables = null }
  both   = { principals = ["222222222222"], tables = { orders = { excluded_columns = ["a"], included_columns = ["b"], rows = null } } }
  typo   = { principals = ["222222222222"], tables = { customers = { exclude_columns = ["email"], rows = null } } }
}
readers = ["reports"]
