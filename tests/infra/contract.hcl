# The contract of most cases of the consumer: one broker behind an endpoint, and the topic sensor.
locals {
  contract = {
    consumer            = "analytics"
    producer_account_id = "111111111111"
    region              = "eu-central-1"
    exposure            = "privatelink"
    cluster = {
      arn       = "arn:aws:kafka:eu-central-1:111111111111:cluster/penstock-cluster/7a2b3c4d-0000-4000-8000-000000000000-2"
      name      = "penstock-cluster"
      zone_name = "penstock-cluster.abc123.c2.kafka.eu-central-1.amazonaws.com"
    }
    brokers = {
      "1" = {
        host         = "b-1.penstock-cluster.abc123.c2.kafka.eu-central-1.amazonaws.com"
        port         = 9096
        service_id   = "vpce-svc-0123456789abcdef1"
        service_name = "com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef1"
        zone_ids     = ["euc1-az1", "euc1-az2"]
      }
    }
    topics       = ["sensor"]
    group_prefix = "analytics-"
    registry = {
      arn         = "arn:aws:glue:eu-central-1:111111111111:registry/penstock"
      external_id = "penstock/analytics/222222222222"
      name        = "penstock"
      role_arn    = "arn:aws:iam::111111111111:role/penstock-analytics-reader"
    }
    # The role is there (tests/infra/conftest.py) and taken while planning; a known secret would be read.
    hand_over = {
      external_id = "of-the-contract"
      role_arn    = "arn:aws:iam::111111111111:role/hand-over"
    }
    programs = { for name in ["clients", "functions", "jobs"] : name => {
      group_prefix = "analytics-${name == "functions" ? "penstock-analytics-consumer" : "${name}-"}"
      rotation     = 1
      secret_arn   = terraform_data.later.output # a known one would be read while planning
      topics       = ["sensor"]
      usernames    = ["analytics_${name}_a"]
      writes       = []
    } }
  }
}
