# The longest names that are taken.
platform = merge(local.platform, {
  prefix  = "penstock-fraud-detection"
  brokers = merge(local.platform.brokers, { logins = merge(local.platform.brokers.logins, { films-of-the-shop = local.platform.brokers.logins.films }) })
  store = { errors = { for name in ["films-of-the-shop-errors", "records-of-many-machines-errors"] : name => { name = "penstock-fraud-detection-${name}" } } }
})
jobs = {
  films-of-the-shop = {
    arguments = { current-buckets = "8", remembered-days = "9" }
    dynamodb  = { "films.public.film" = "film_id", "films.public.film_actor" = "_key" }
    files     = ["flattened", "raw"]
    history   = true
    maintain  = "cron(0 4 * * ? *)"
    refined = {
      by    = "rating"
      query = "SELECT title, rating FROM lake.penstock_analytics_lake.films_public_film"
      table = "films_by_rating"
    }
    topics  = ["films.public.film", "films.public.film_actor"]
    trigger = "1 minute"
    workers = { max_executors = 2 }
  }
  records-of-many-machines = { current = false, files = ["raw"], schedule = "rate(1 day)", topics = ["sensor"], trigger = "available-now" }
}
lag_records = 50000
