platform = merge(local.platform, { jobs = null })
jobs     = { films = { topics = ["films.public.film"] } }
