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
    condition     = alltrue([for table in values(var.tables) : table.key == null ? table.key_name == null : length(table.key) == 1 || (length(table.key) > 1 && table.key_name != null)])
    error_message = "The keys are ${jsonencode({ for name, table in var.tables : name => table.key })}; give each at least one field, and a key_name where there are several."
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
    condition     = alltrue([for table in values(var.tables) : table.deleted_when == null ? true : coalesce(table.mode, "append") == "upsert" && length(table.deleted_when.values) > 0 && alltrue([for value in table.deleted_when.values : can(regex("^[^, ]+$", value))]) && can(regex("^[^= ]+$", table.deleted_when.field))])
    error_message = "The events that delete are ${jsonencode({ for name, table in var.tables : name => table.deleted_when if table.deleted_when != null })}; use deleted_when in mode upsert, with a field without =, and at least one value, none of them with a comma or a space."
  }
}
