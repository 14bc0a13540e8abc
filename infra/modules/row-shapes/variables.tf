variable "names" {
  description = "The tables that functions and jobs write."
  type        = set(string)
}

variable "tables" {
  description = "The shapes of rows, by table; a table that is not here holds readings of sensors (docs/settings.md says what each setting does)."
  type = map(object({
    # The field of an event that deletes its row with some values.
    deleted_when = optional(object({ field = string, values = list(string) }))
    event_time   = optional(string)
    key          = optional(list(string))
    # Of Kafka's keys, if the fields of the key are theirs.
    key_format = optional(string)
    key_name   = optional(string)
    mode       = optional(string)
    # The fields that order versions of a row.
    order     = optional(list(string))
    sort      = optional(list(string))
    sort_name = optional(string)
    # What a record without a value does.
    tombstone = optional(string)
  }))
  default = {}

  validation {
    condition     = length(setsubtract(keys(var.tables), var.names)) == 0
    error_message = "The tables with a shape are ${join(", ", keys(var.tables))}; name tables that a consumer function or a job writes."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : contains(["append", "upsert"], coalesce(table.mode, "append"))])
    error_message = "The modes are ${jsonencode({ for name, table in var.tables : name => table.mode })}; choose append or upsert."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : contains(["dead-letter", "delete", "ignore"], coalesce(table.tombstone, "ignore"))])
    error_message = "The tombstones are ${jsonencode({ for name, table in var.tables : name => table.tombstone })}; choose ignore, delete or dead-letter."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : table.key == null ? table.key_name == null : length(table.key) == 1 || (length(table.key) > 1 && table.key_name != null && !contains(table.key, coalesce(table.key_name, "none")))])
    error_message = "The keys are ${jsonencode({ for name, table in var.tables : name => { key = table.key, key_name = table.key_name } })}; give each at least one field, and where there are several a key_name that is no field of the key."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : alltrue(flatten([for fields in [table.key, table.order, table.sort] : fields == null ? true : length(distinct(fields)) == length(fields) && alltrue([for field in fields : field != "" && field == trimspace(field) && !strcontains(field, ",")])]))])
    error_message = "The fields of keys, sort keys and orders are ${jsonencode({ for name, table in var.tables : name => concat(coalesce(table.key, []), coalesce(table.sort, []), coalesce(table.order, [])) })}; name each field once in a list, without commas and without spaces around it."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : table.sort_name == null ? true : (table.sort_name == "none") == (coalesce(table.mode, "append") == "upsert" && try(length(table.sort), 0) == 0)])
    error_message = "The sort keys are ${jsonencode({ for name, table in var.tables : name => { mode = coalesce(table.mode, "append"), sort = table.sort, sort_name = table.sort_name } })}; leave sort_name out, or give none in mode upsert without sort, and a name in all other cases."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : length(setintersection(["_deleted", "_event", "_expiresAt", "_order", "_schema", "_schemaId", "_source", "_topic"], [coalesce(table.key_name, try(table.key[0], "deviceId")), coalesce(table.sort_name, "readingId")])) == 0 && coalesce(table.key_name, try(table.key[0], "deviceId")) != coalesce(table.sort_name, coalesce(table.mode, "append") == "upsert" && try(length(table.sort), 0) == 0 ? "none" : "readingId")])
    error_message = "The attributes of the keys are ${jsonencode({ for name, table in var.tables : name => [coalesce(table.key_name, try(table.key[0], "deviceId")), coalesce(table.sort_name, coalesce(table.mode, "append") == "upsert" && try(length(table.sort), 0) == 0 ? "none" : "readingId")] })}; give each table two different names in key_name and sort_name, and none that rows have for themselves: _deleted, _event, _expiresAt, _order, _schema, _schemaId, _source, _topic."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : coalesce(table.event_time, "timestamp") == "none" || try(length(table.key), 1) != 1 || try(table.key[0], "deviceId") != coalesce(table.event_time, "timestamp")])
    error_message = "The event times are ${jsonencode({ for name, table in var.tables : name => coalesce(table.event_time, "timestamp") })} and the keys ${jsonencode({ for name, table in var.tables : name => coalesce(table.key, ["deviceId"]) })}; name another field in event_time than the one of key, which is a text, or none for Kafka's timestamp."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : contains(["avro", "int", "long", "string"], coalesce(table.key_format, "avro")) && (coalesce(table.key_format, "avro") == "avro" || (try(length(table.key), 1) == 1 && table.sort == null))])
    error_message = "The formats of keys are ${jsonencode({ for name, table in var.tables : name => table.key_format })}; choose avro, or string, int or long for a table with one field in key and no sort, as such a key is one value."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : coalesce(table.tombstone, "ignore") != "delete" || (coalesce(table.mode, "append") == "upsert" && table.order == null && (table.key_format != null || (try(length(table.key), 1) == 1 && table.sort == null)))])
    error_message = "The tables that delete are ${jsonencode([for name, table in var.tables : name if table.tombstone == "delete"])}; use tombstone delete in mode upsert, without order, since a record without a value has only its key and time, and for several fields in key, or for sort, with key_format."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : coalesce(table.mode, "append") == "upsert" || (table.sort == null && table.order == null)])
    error_message = "The tables are ${jsonencode({ for name, table in var.tables : name => { mode = table.mode, order = table.order, sort = table.sort } })}; use sort and order in mode upsert only, since in append mode records with equal fields would overwrite each other."
  }
  validation {
    condition     = alltrue([for table in values(var.tables) : table.deleted_when == null ? true : coalesce(table.mode, "append") == "upsert" && length(table.deleted_when.values) > 0 && length(distinct(table.deleted_when.values)) == length(table.deleted_when.values) && alltrue([for value in table.deleted_when.values : can(regex("^[^, ]+$", value))]) && can(regex("^[^= ]+$", table.deleted_when.field))])
    error_message = "The events that delete are ${jsonencode({ for name, table in var.tables : name => table.deleted_when if table.deleted_when != null })}; use deleted_when in mode upsert, with a field without =, and at least one value, none of them twice, or with a comma or a space."
  }
}
