platform = local.platform
jobs = {
  consume = { topics = ["sensor"] }
  films   = { topics = ["films.public.language"] }
}
