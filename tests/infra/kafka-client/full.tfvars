prefix       = "penstock"
account_id   = "111111111111"
region       = "eu-central-1"
cluster_name = "penstock-cluster"
egress = {
  brokers   = { port = 9098, security_group_id = terraform_data.later.output }
  endpoints = { port = 443, security_group_id = terraform_data.later.output }
}
name              = "enrichment"
reads             = ["sensor", "place"]
registry          = "penstock"
security_group_id = "sg-0123456789abcdef1"
writes            = ["placed"]
