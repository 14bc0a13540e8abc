account_id         = "222222222222"
region             = "eu-central-1"
bootstrap_servers  = "b-1.penstock.abc123.c2.kafka.eu-central-1.amazonaws.com:9096,b-2.penstock.abc123.c2.kafka.eu-central-1.amazonaws.com:9096"
failure_bucket_arn = "arn:aws:s3:::penstock-analytics-parked-222222222222-eu-central-1"
function = {
  arn       = "arn:aws:lambda:eu-central-1:222222222222:function:penstock-analytics-consumer"
  name      = "penstock-analytics-consumer"
  role_name = "penstock-analytics-consumer"
}
group_prefix = "analytics-"
network = {
  security_group_id = "sg-0123456789abcdef0"
  subnet_ids        = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
}
secret = {
  arn  = "arn:aws:secretsmanager:eu-central-1:222222222222:secret:penstock-analytics-broker-login-AbCdEf"
  name = "penstock-analytics-broker-login"
}
batching    = { size = 1000, window_seconds = 5 }
provisioned = { maximum_pollers = 4 }
topics      = ["meter", "sensor"]
