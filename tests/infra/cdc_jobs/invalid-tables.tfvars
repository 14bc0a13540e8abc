platform = merge(local.platform, { brokers = merge(local.platform.brokers, { logins = {
  jobs = merge(local.platform.brokers.logins.films, { topics = ["films.public.film", "films.public.film_deleted"] })
  } })
  store = { errors = { for name in ["archive-errors", "films-errors"] : name => { name = name } } }
})
jobs = {
  archive = { topics = ["films.public.film_deleted"] }
  films = {
    history = true
    refined = { query = "SELECT 1", table = "films_public_film_history" }
    topics  = ["films.public.film"]
  }
}
