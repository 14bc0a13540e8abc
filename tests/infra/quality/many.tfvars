# More than a variable of a function, or an inline policy, holds.
platform = merge(local.platform, { lake = merge(local.platform.lake, { tables = { for number in range(100) : "event_of_kind_${number}" => merge(local.platform.lake.tables.customers, { staged = false }) } }) })
tables   = { for number in range(100) : "event_of_kind_${number}" => { late-share = "0.05" } }
