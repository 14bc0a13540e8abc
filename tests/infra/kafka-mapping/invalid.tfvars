account_id         = "22222222222"
region             = "eu-central-1"
bootstrap_servers  = "b-1.penstock"
failure_bucket_arn = "arn:aws:s3:::penstock-analytics-parked-222222222222-eu-central-1"
function = {
  arn       = "arn:aws:lambda:eu-central-1:222222222222:function:penstock-analytics-consumer"
  name      = "penstock-analytics-consumer"
  role_name = "penstock-analytics-consumer"
}
group_prefix = ""
network = {
  security_group_id = "sg-0123456789abcdef0"
  subnet_ids        = []
}
secret = {
  arn  = "arn:aws:secretsmanager:eu-central-1:222222222222:secret:penstock-analytics-broker-login-AbCdEf"
  name = "penstock-analytics-broker-login"
}
batching    = { size = 10001, window_seconds = 301 }
provisioned = { minimum_pollers = 201, maximum_pollers = 300 }
topics      = ["sensor"]
