# The grants. All tables of the database at once: a job makes them at run time, and a grant on one table needs it.
locals {
  _reads = { database = ["DESCRIBE"], tables = ["DESCRIBE", "SELECT"] }
  whole = merge(
    var.platform.lake.principals,
    var.principals,
    { for arn in var.readers : arn => merge(local._reads, { arn = arn }) },
    {
      for name, analyst in var.analysts : "analyst-${name}" => merge(local._reads, {
        arn    = aws_iam_role.analyst[name].arn
        tables = analyst.tables == null ? local._reads.tables : []
      })
    },
  )
  # Tables that an analyst sees in part.
  parts = merge([
    for name, analyst in var.analysts : {
      for table, part in coalesce(analyst.tables, {}) : "${name}/${table}" => merge(part, { analyst = name, table = table })
    }
  ]...)
}

resource "aws_lakeformation_permissions" "database" {
  for_each = { for name, principal in local.whole : name => principal if length(principal.database) > 0 }

  principal   = each.value.arn
  permissions = each.value.database

  database {
    name = var.platform.lake.database.name
  }
}

resource "aws_lakeformation_permissions" "tables" {
  for_each = { for name, principal in local.whole : name => principal if length(principal.tables) > 0 }

  principal   = each.value.arn
  permissions = each.value.tables

  table {
    database_name = var.platform.lake.database.name
    wildcard      = true
  }
}

# Tables below the location of their database need no such permission, others in a registered location do.
resource "aws_lakeformation_permissions" "location" {
  for_each = merge([
    for name, principal in local.whole : {
      for folder in var.platform.lake.folders : "${name}/${folder}" => { arn = principal.arn, folder = folder } if contains(principal.database, "CREATE_TABLE")
    }
  ]...)

  principal   = each.value.arn
  permissions = ["DATA_LOCATION_ACCESS"]

  data_location {
    arn = aws_lakeformation_resource.tables[each.value.folder].arn
  }
}

resource "aws_lakeformation_permissions" "columns" {
  for_each = { for name, part in local.parts : name => part if part.rows == null }

  principal   = aws_iam_role.analyst[each.value.analyst].arn
  permissions = ["SELECT"]

  table_with_columns {
    database_name         = var.platform.lake.database.name
    name                  = each.value.table
    column_names          = each.value.included_columns
    excluded_column_names = each.value.excluded_columns
    wildcard              = each.value.included_columns == null ? true : null
  }
}

resource "aws_lakeformation_data_cells_filter" "rows" {
  for_each = { for name, part in local.parts : name => part if part.rows != null }

  table_data {
    database_name    = var.platform.lake.database.name
    name             = "${var.platform.prefix}-${each.value.analyst}"
    table_catalog_id = var.platform.account_id
    table_name       = each.value.table
    column_names     = each.value.included_columns

    dynamic "column_wildcard" {
      for_each = each.value.included_columns == null ? [each.value.excluded_columns] : []

      content {
        # The provider reads no names as null.
        excluded_column_names = length(column_wildcard.value) == 0 ? null : column_wildcard.value
      }
    }
    row_filter {
      filter_expression = each.value.rows
    }
  }
}

resource "aws_lakeformation_permissions" "rows" {
  for_each = aws_lakeformation_data_cells_filter.rows

  principal   = aws_iam_role.analyst[local.parts[each.key].analyst].arn
  permissions = ["SELECT"]

  data_cells_filter {
    database_name    = each.value.table_data[0].database_name
    name             = each.value.table_data[0].name
    table_catalog_id = each.value.table_data[0].table_catalog_id
    table_name       = each.value.table_data[0].table_name
  }
}
