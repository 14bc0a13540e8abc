prefix            = "penstock"
name              = "audit"
policy_json       = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "kafka-cluster:ReadData", Resource = [for number in range(100) : "arn:aws:kafka:eu-central-1:111111111111:topic/penstock-cluster/*/topic-${number}"] }] })
security_group_id = "sg-0123456789abcdef1"
