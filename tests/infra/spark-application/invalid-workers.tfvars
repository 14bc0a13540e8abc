prefix      = "penstock-analytics"
account_id  = "222222222222"
region      = "eu-central-1"
application = { maximum = { cpu = "8 vCPU", memory = "32 GB" } }
artifacts = {
  programs = { consume = "../../tests/data/tiny.zip" }
  pyfiles  = "../../tests/data/tiny.zip"
}
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = ["subnet-0123456789abcdef0"]
  egress     = {}
}
roles = { consume = "{\"Statement\": []}" }
runs = {
  again   = { program = "consume", role = "consume", workers = { driver = { cores = 3 }, max_executors = 0 } }
  consume = { program = "consume", role = "consume", schedule = "rate(1 day)", streaming = true, workers = { executor = { cores = 2, memory_gib = 6 } } }
}
