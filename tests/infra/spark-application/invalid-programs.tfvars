prefix     = "penstock-analytics"
account_id = "222222222222"
region     = "eu-central-1"
artifacts  = { pyfiles = "../../tests/data/tiny.zip" }
network = {
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = ["subnet-0123456789abcdef0"]
  egress     = {}
}
runs = { consume = { program = "consume", role = "consume" } }
