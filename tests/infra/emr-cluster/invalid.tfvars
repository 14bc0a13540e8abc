account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts = {
  bucket  = "artifacts"
  jars    = ["iceberg.jar"]
  pyfiles = "build/penstock.zip"
}
cluster = {
  concurrent_steps = 0
  core_nodes       = 0
  core_type        = "m7g"
  idle_minutes     = 0
  release_label    = "emr-7.14.0"
  volume_gib       = 8
}
network = {
  vpc_id    = "vpc-0123456789abcdef0"
  subnet_id = "subnet-0123456789abcdef0"
  egress    = { nowhere = { port = 443 } }
}
parameters_path = "sales/"
policies        = { totals = "none" }
runs            = { totals = { program = "jobs/sales.py" } }
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
