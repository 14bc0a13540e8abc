jobs = { consume = { writes = { "*" = "readings" } } }
