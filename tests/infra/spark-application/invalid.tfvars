prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
application = {
  architecture  = "sparc"
  idle_minutes  = 0
  maximum       = { cpu = "4" }
  release_label = "emr-spark-8.0.0"
}
artifacts = {
  files      = { "../contract.json" = "{}" }
  image_jars = ["iceberg.jar"]
  pyfiles    = "absent.zip"
}
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = []
  egress     = { nowhere = { port = 443 } }
}
