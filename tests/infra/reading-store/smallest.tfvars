prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
tables     = { readings = { hash_key = "deviceId", range_key = "readingId" } }
