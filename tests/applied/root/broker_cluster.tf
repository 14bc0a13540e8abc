# The module of the cluster, for policies of which no plan knows the ARN.
module "broker_cluster" {
  source = "../modules/broker-cluster"

  prefix     = "applied"
  account_id = "930000000001"
  region     = "eu-central-1"
  cluster    = { broker_count = 2 }
  exposure   = "multi_vpc"
  retention  = { key_deletion_days = 7, secret_recovery_days = 0 }
  subnet_ids = { euc1-az1 = aws_subnet.this["a"].id, euc1-az2 = aws_subnet.this["b"].id }
  users = {
    analytics_jobs = { account_id = "222222222222" }
    billing_jobs   = { account_id = "333333333333" }
  }
  vpc_id = aws_vpc.this.id
}
