names = ["lines", "orders"]
tables = {
  orders = { key = ["shop", "number"], mode = "merge", tombstone = "delete" }
  lines  = { deleted_when = { field = "op", values = ["D"] }, order = ["revision"], sort = ["line"], sort_name = "none" }
  other  = { key = [], key_format = "json", key_name = "pk", tombstone = "keep" }
  parts  = { key = ["timestamp"], order = ["revision", "revision"], sort_name = "_topic" }
}
