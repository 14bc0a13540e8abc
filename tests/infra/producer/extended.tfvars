# What extensions.tf.example needs, as its comments and docs/cdc.md say.
account_id = "111111111111"
region     = "eu-central-1"
clients    = { admin = { host = {}, access_lists = "read" } }
consumers  = [{ name = "analytics", account_id = "222222222222", topics = ["films.public.film", "sensor"] }]
network    = { zone_ids = ["euc1-az1", "euc1-az2"], interface_endpoints = ["secretsmanager"] }
topics     = { "films.public.film" = {}, sensor = {} }
