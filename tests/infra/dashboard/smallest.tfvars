prefix  = "penstock"
region  = "eu-central-1"
charges = ["AWSLambda"]
