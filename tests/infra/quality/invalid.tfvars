platform     = local.platform
silent_hours = 200
tables       = { orders = {} }
