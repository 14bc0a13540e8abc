prefix     = "penstock-analytics"
account_id = "222222222222"
contract = {
  exposure            = "peering"
  peering             = { cidr = "10.0.0.0/16", vpc_id = "vpc-0123456789abcdef9" }
  producer_account_id = "111111111111"
  brokers = {
    "1" = {
      host     = "b-1.penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
      port     = 9096
      zone_ids = ["euc1-az1", "euc1-az2"]
    }
    "2" = {
      host     = "b-2.penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
      port     = 9096
      zone_ids = ["euc1-az2", "euc1-az3"]
    }
  }
  cluster = {
    arn       = "arn:aws:kafka:eu-central-1:111111111111:cluster/penstock-producer/7a2b3c4d-0000-4000-8000-000000000000-2"
    name      = "penstock-producer"
    zone_name = "penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
  }
  programs = { for name in ["clients", "functions", "jobs"] : name => {
    group_prefix = "analytics-${name == "functions" ? "penstock-analytics-consumer" : "${name}-"}"
    rotation     = 7
    secret_arn   = terraform_data.later.output # a known one would be read while planning
    topics       = ["sensor"]
    usernames    = ["analytics_${name}_a"]
    writes       = []
  } }
}
clients         = { consumer = terraform_data.later.output, spark = "sg-0123456789abcdef0" }
route_table_ids = []
retention       = { key_deletion_days = 7, secret_recovery_days = 0 }
subnet_ids = {
  euc1-az4 = "subnet-0123456789abcdef4"
}
vpc_id = "vpc-0123456789abcdef0"
