broker_count = 101
zone_ids     = ["euc1-az1"]
zone_name    = "penstock-producer.abc123.c2.kafka.eu-central-1.amazonaws.com"
