# The keys and settings of tables, from the shapes of their rows. A setting that is not given has the default of the code.
locals {
  # As penstock.records.RowShape has them.
  _reading = jsondecode(file("${path.module}/../reading.json"))

  # A table of upserts without fields for a sort key has none.
  _sort_names = {
    for table in var.names : table =>
    try(coalesce(var.tables[table].sort_name), var.tables[table].mode == "upsert" && try(length(var.tables[table].sort), 0) == 0 ? "none" : null, null)
  }

  shapes = {
    for table in var.names : table => {
      hash_key  = try(coalesce(var.tables[table].key_name, var.tables[table].key[0]), local._reading.hash_key)
      range_key = local._sort_names[table] == "none" ? null : coalesce(local._sort_names[table], local._reading.range_key)
      settings = { for flag, value in {
        deleted-when = try("${var.tables[table].deleted_when.field}=${join(",", var.tables[table].deleted_when.values)}", null)
        event-time   = try(var.tables[table].event_time, null)
        key          = try(join(",", var.tables[table].key), null)
        key-format   = try(var.tables[table].key_format, null)
        key-name     = try(var.tables[table].key_name, null)
        mode         = try(var.tables[table].mode, null)
        order        = try(join(",", var.tables[table].order), null)
        sort         = try(join(",", var.tables[table].sort), null)
        sort-name    = local._sort_names[table]
        tombstone    = try(var.tables[table].tombstone, null)
      } : flag => value if value != null }
      # What its rows are found and compared by, "" for none. In mode upsert the event time is the lake's alone.
      fixed = {
        event_time = try(var.tables[table].mode, null) == "upsert" ? "" : try(coalesce(var.tables[table].event_time), local._reading.event_time)
        key        = try(join(",", var.tables[table].key), local._reading.hash_key)
        key_format = try(coalesce(var.tables[table].key_format), "")
        order      = try(join(",", var.tables[table].order), "")
        sort       = try(join(",", var.tables[table].sort), "")
      }
      upserts = try(var.tables[table].mode, null) == "upsert"
    }
  }
}
