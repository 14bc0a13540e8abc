platform = merge(local.platform, { store = { errors = { for name in ["consume-errors", "films-errors"] : name => { name = name } } } })
jobs = {
  consume = { topics = ["sensor"] }
  films   = { topics = ["films.public.language"] }
}
