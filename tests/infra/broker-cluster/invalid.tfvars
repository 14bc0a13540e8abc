account_id = "111111111111"
prefix     = "Penstock"
region     = "Frankfurt"
cluster = {
  type                    = "shared"
  certificate_authorities = ["arn:aws:acm:eu-central-1:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef"]
  enhanced_monitoring     = "ALL"
  instance_type           = "kafka.t3.small"
  kafka_version           = "3.9.x"
  max_volume_gib          = 99
  properties = {
    "allow.everyone.if.no.acl.found" = "true"
    "log.retention.hours"            = "24\nauto.create.topics.enable=true"
  }
}
retention  = { secret_recovery_days = 1 }
scrapers   = { agent = "sg-1", prometheus = "sg-1", spare = "sg-2" }
subnet_ids = { "euc1-az1" = "subnet-1", "euc1-az2" = "subnet-2", "euc1-az3" = "subnet-3" }
vpc_id     = "vpc-1"
