prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
application = {
  architecture  = "x86_64"
  idle_minutes  = 5
  maximum       = { cpu = "16 vCPU", memory = "64 GB" }
  release_label = "emr-spark-8.1.0"
}
artifacts = {
  archives      = { packages = "../../tests/data/tiny.zip" }
  configuration = { "spark.executor.extraJavaOptions" = "-Da=1 -Db=2" }
  files         = { "contract.json" = "{}" }
  image_jars    = ["/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"]
  jars          = { iceberg = "../../tests/data/tiny.zip" }
  programs      = { consume = "../../tests/data/tiny.zip", replay = "../../tests/data/tiny.zip" }
  pyfiles       = "../../tests/data/tiny.zip"
}
network = {
  vpc_id     = terraform_data.later.output
  subnet_ids = [terraform_data.later.output]
  egress = {
    brokers = { port = 14001, to_port = 14100, security_group_id = terraform_data.later.output }
    s3      = { port = 443, prefix_list_id = "pl-0123456789abcdef0" }
  }
}
parameters = { consume = { topics = "sensor" } }
retention  = { force_destroy = true, key_deletion_days = 7, log_days = 7 }
roles = {
  consume = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["dynamodb:BatchWriteItem"]
      Resource = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-readings"
    }]
  })
  replay = jsonencode({ Version = "2012-10-17", Statement = [] })
}
runs = {
  again   = { program = "replay", role = "replay", arguments = ["--attempts", "0"], schedule = "rate(1 day)" }
  consume = { program = "consume", role = "consume", arguments = ["--contract", "contract.json"], streaming = true }
}
