platform = merge(local.platform, { jobs = merge(local.platform.jobs, { programs = "../../absent" }) })
jobs     = { films = { topics = ["films.public.film"] } }
