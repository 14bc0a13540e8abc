prefix            = "penstock"
account_id        = "111111111111"
region            = "eu-central-1"
cluster_name      = "penstock-cluster"
name              = "audit"
reads             = ["sensor"]
registry          = "penstock"
security_group_id = "sg-0123456789abcdef1"
