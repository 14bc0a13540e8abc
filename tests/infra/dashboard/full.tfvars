prefix             = "penstock-producer"
region             = "eu-central-1"
cluster            = { name = "penstock-producer-cluster", broker_count = 2, per_broker = true, topics = ["sensor", "site"] }
consumers          = ["penstock-producer-consumer"]
dead_letter_queues = ["penstock-producer-producer-dead-letters"]
functions          = ["penstock-producer-producer"]
jobs               = ["consume", "shop"]
producers          = { producer = { function = "penstock-producer-producer", schema = "sensor" } }
charges            = ["AmazonMSK", "AWSLambda"]
tables             = { errors = ["penstock-producer-errors"], readings = ["penstock-producer-readings"] }
