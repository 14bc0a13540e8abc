account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts = {
  archives_hash = "0123456789abcdef"
  archives      = ["s3://artifacts/archives/packages.zip"]
  bucket        = "artifacts"
  configuration = { "spark.sql.session.timeZone" = "UTC" }
  jars          = ["s3://artifacts/jars/kafka.jar", "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"]
  pyfiles       = "s3://artifacts/pyfiles/penstock.zip"
}
cluster = {
  concurrent_steps       = 4
  core_nodes             = 3
  core_type              = "r7g.2xlarge"
  idle_minutes           = 15
  primary_type           = "m7g.large"
  release_label          = "emr-spark-8.1.0"
  termination_protection = true
  volume_gib             = 32
}
network = {
  vpc_id    = terraform_data.later.output
  subnet_id = "subnet-0123456789abcdef0"
  egress = {
    s3  = { port = 443, prefix_list_id = "pl-0123456789abcdef0" }
    ssm = { port = 443, security_group_id = terraform_data.later.output }
  }
}
parameters_path      = "/sales"
permissions_boundary = "arn:aws:iam::222222222222:policy/boundary"
policies = {
  consume = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["dynamodb:BatchWriteItem"]
      Resource = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-readings"
    }]
  })
}
retention = { force_destroy = true, key_deletion_days = 7, log_days = 30 }
runs = {
  totals = { program = "s3://artifacts/jobs/sales.py", arguments = ["totals", "--name", "it's"] }
}
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
