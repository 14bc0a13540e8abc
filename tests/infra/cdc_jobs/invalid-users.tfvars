platform = merge(local.platform, { brokers = merge(local.platform.brokers, { logins = { audit = local.platform.brokers.logins.films } }) })
jobs     = { films = { topics = ["films.public.film"] } }
