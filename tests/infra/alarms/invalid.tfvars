prefix            = "Penstock"
account_id        = "222222222222"
lag_records       = -1
region            = "Frankfurt"
cluster           = { name = "penstock-producer", broker_count = 0 }
endpoint_services = { "1" = "com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef1" }
topic             = { publishers = ["events.amazonaws.com"] }
