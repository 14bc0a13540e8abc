platform = local.platform
jobs     = { films = { topics = ["films.public.film"] } }
