prefix   = "penstock"
region   = "eu-central-1"
services = ["AWSLambda"]
