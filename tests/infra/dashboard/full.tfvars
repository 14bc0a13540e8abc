# The producer's platform.
platform = local.platform
charges  = ["AWSLambda", "AmazonMSK"]
