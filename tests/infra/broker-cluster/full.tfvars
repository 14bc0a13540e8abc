account_id = "111111111111"
prefix     = "penstock-producer"
region     = "eu-central-1"
clients    = { access = "sg-access", producer = "sg-producer" }
cluster = {
  broker_count            = 4
  certificate_authorities = ["arn:aws:acm-pca:eu-central-1:111111111111:certificate-authority/01234567-89ab-cdef-0123-456789abcdef"]
  enhanced_monitoring     = "PER_BROKER"
  instance_type           = "kafka.m5.xlarge"
  kafka_version           = "4.0.x.kraft"
  max_volume_gib          = 16384
  properties              = { "log.retention.ms" = "-1", "log.cleanup.policy" = "compact,delete" }
  volume_gib              = 500
}
exposure   = "multi_vpc"
retention  = { key_deletion_days = 7, log_days = 30, secret_recovery_days = 0 }
scrapers   = { prometheus = "sg-prometheus" }
subnet_ids = { "euc1-az1" = "subnet-1", "euc1-az2" = "subnet-2" }
users = {
  analytics_jobs = { account_id = "222222222222", rotation = 3 }
  billing_audit  = { account_id = "333333333333" }
}
vpc_id = "vpc-1"
