prefix       = "penstock-producers-of-sensors"
broker_count = 0
cluster = {
  arn               = "arn:aws:kafka:eu-central-1:111111111111:cluster/penstock-producer/7a2b3c4d-0000-4000-8000-000000000000-2"
  security_group_id = "sg-0123456789abcdef0"
  zone_name         = "penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
}
consumers  = { analytics = "22222222222" }
ports      = [9092]
subnet_ids = { euc1-az1 = "subnet-0123456789abcdef1" }
vpc_id     = "vpc-0123456789abcdef0"
