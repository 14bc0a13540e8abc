prefix            = "penstock"
name              = "Audit"
policy_json       = "{}"
security_group_id = "audit"
