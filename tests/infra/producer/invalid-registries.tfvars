account_id = "111111111111"
region     = "eu-central-1"
consumers = [
  {
    name       = "analytics"
    account_id = "222222222222"
    topics     = ["order"]
    registries = [
      { secret_arn = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:registry-AbCdEf", url = "confluent+https://10.8.0.7" },
      { url = "confluent+https://schemas.example.com" },
    ]
  },
]
network = { zone_ids = ["euc1-az1", "euc1-az2"] }
producers = {
  orders = {
    registry = { cidr = "10.8.0.0/24", secret_arn = "registry", security_group_id = "sg-0123456789abcdef2", url = "apicurio+http://10.9.0.7:8080" }
    topic    = "order"
  }
}
topics = { order = { unframed = "apicurio:3" } }
