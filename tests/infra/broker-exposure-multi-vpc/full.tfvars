# A cluster that is not there yet: only the keys and the ports are known.
broker_count = 100
zone_ids     = ["euc1-az1", "euc1-az2", "euc1-az3"]
zone_name    = terraform_data.later.output
