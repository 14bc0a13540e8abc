broker_count = 3
zone_ids     = ["euc1-az1", "euc1-az2"]
zone_name    = "penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
