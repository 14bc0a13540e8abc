# 50 tables with shapes: arguments that fit into no step.
account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts = {
  bucket  = "artifacts"
  jars    = ["s3://artifacts/jars/kafka.jar"]
  pyfiles = "s3://artifacts/pyfiles/penstock.zip"
}
network = {
  vpc_id    = "vpc-0123456789abcdef0"
  subnet_id = "subnet-0123456789abcdef0"
  egress    = {}
}
runs = {
  fits  = { program = "s3://artifacts/jobs/consume.py", arguments = ["--shapes", join(";", [for number in range(50) : "table_${number}.key=id"])] }
  large = { program = "s3://artifacts/jobs/consume.py", arguments = ["--shapes", join(";", flatten([for number in range(50) : [for flag in ["key", "sort", "order", "event-time", "deleted-when"] : "customer_accounts_${number}.${flag}=a_field_of_table_${number}"]]))] }
}
topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms"
