# Network access to the brokers, connections from other accounts, and use of the key of their volumes.

resource "aws_security_group" "this" {
  name        = "${var.prefix}-brokers"
  description = "Brokers of ${local.name}"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.prefix}-brokers" }
}

resource "aws_vpc_security_group_ingress_rule" "client" {
  for_each = var.clients

  security_group_id            = aws_security_group.this.id
  description                  = "${each.key}, by IAM"
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 9098
  to_port                      = 9098
}

# The exporters of JMX metrics and of the machine.
resource "aws_vpc_security_group_ingress_rule" "scraper" {
  for_each = local.is_provisioned ? var.scrapers : {}

  security_group_id            = aws_security_group.this.id
  description                  = "Prometheus of ${each.key}"
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 11001
  to_port                      = 11002
}

# MSK's own connections come from addresses that only the consumers know. The cluster policy and the
# password decide who is admitted, and the VPC has no path to the internet.
resource "aws_vpc_security_group_ingress_rule" "connections" {
  count = var.exposure == "multi_vpc" ? 1 : 0

  security_group_id = aws_security_group.this.id
  description       = "MSK multi-VPC connections"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 14001
  to_port           = 14100
}

# With PrivateLink the endpoint services decide who connects; this policy is for MSK's own connections.
resource "aws_msk_cluster_policy" "this" {
  count = var.exposure == "multi_vpc" && length(var.users) > 0 ? 1 : 0

  cluster_arn = aws_msk_cluster.this[0].arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid    = "ConsumersConnect"
      Effect = "Allow"
      Principal = { AWS = [
        for account_id in sort(distinct([for user in values(var.users) : user.account_id])) :
        "arn:${data.aws_partition.this.partition}:iam::${account_id}:root"
      ] }
      Action = [
        "kafka:CreateVpcConnection",
        "kafka:DescribeCluster",
        "kafka:DescribeClusterV2",
        "kafka:GetBootstrapBrokers",
      ]
      Resource = aws_msk_cluster.this[0].arn
    }]
  })
}

module "brokers_key" {
  source = "../customer-key"
  count  = local.is_provisioned ? 1 : 0

  account_id    = var.account_id
  alias         = "${var.prefix}-brokers"
  deletion_days = var.retention.key_deletion_days
  description   = "Volumes and logs of the brokers of ${local.name}"
  services = {
    LogsOfTheBrokers = {
      service    = "logs.${var.region}.amazonaws.com"
      actions    = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
      conditions = { ArnEquals = { "kms:EncryptionContext:aws:logs:arn" = local.log_group_arn } }
    }
  }
}
