prefix            = "penstock"
account_id        = "111111111111"
region            = "eu-central-1"
cluster_name      = "penstock-cluster"
name              = "Audit"
registry          = "penstock"
security_group_id = "audit"
writes            = ["a/b"]
