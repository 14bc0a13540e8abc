prefix = "penstock"
egress = {
  brokers   = { port = 14001, to_port = 14003, security_group_id = terraform_data.later.output }
  endpoints = { port = 443, security_group_id = terraform_data.later.output }
  s3        = { port = 443, prefix_list_id = "pl-0123456789abcdef0" }
}
name              = "enrichment"
policy_json       = "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"sts:AssumeRole\", \"Resource\": \"arn:aws:iam::111111111111:role/reader\"}]}"
role_name         = "penstock-client-enrichment"
security_group_id = "sg-0123456789abcdef1"
