account_id = "222222222222"
region     = "eu-central-1"
prefix     = "penstock-analytics"
artifacts = {
  bucket  = "artifacts"
  pyfiles = "s3://artifacts/pyfiles/penstock.zip"
}
network = {
  vpc_id    = "vpc-0123456789abcdef0"
  subnet_id = "subnet-0123456789abcdef0"
  egress    = {}
}
policies = {
  long = jsonencode({ Version = "2012-10-17", Statement = [for number in range(800) : { Sid = "S${number}" }] })
}
