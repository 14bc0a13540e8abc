names  = ["readings"]
tables = { other = { mode = "upsert" } }
