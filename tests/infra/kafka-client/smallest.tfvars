prefix            = "penstock"
name              = "audit"
policy_json       = "{\"Version\": \"2012-10-17\", \"Statement\": []}"
security_group_id = "sg-0123456789abcdef1"
