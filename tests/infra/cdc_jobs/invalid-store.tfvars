platform = merge(local.platform, { store = { errors = { errors = { name = "penstock-analytics-errors" } } } })
jobs     = { films = { topics = ["films.public.film"] } }
