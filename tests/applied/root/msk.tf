# A cluster as its owner declares it, with all that the provider manages around it.
variable "broker_count" {
  type = number
}

variable "partitions" {
  type = number
}

variable "connectable" {
  type = bool
}

resource "aws_vpc" "this" {
  cidr_block           = "10.9.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_subnet" "this" {
  for_each = { a = 0, b = 1 }

  vpc_id            = aws_vpc.this.id
  availability_zone = "eu-central-1${each.key}"
  cidr_block        = cidrsubnet(aws_vpc.this.cidr_block, 8, each.value)
}

resource "aws_security_group" "this" {
  vpc_id = aws_vpc.this.id
}

resource "aws_kms_key" "this" {}

resource "aws_secretsmanager_secret" "this" {
  name                    = "AmazonMSK_terraform"
  kms_key_id              = aws_kms_key.this.arn
  recovery_window_in_days = 0
}

resource "aws_secretsmanager_secret_version" "this" {
  secret_id     = aws_secretsmanager_secret.this.id
  secret_string = jsonencode({ username = "anna", password = "a-1" })
}

resource "aws_msk_configuration" "this" {
  name              = "terraform"
  kafka_versions    = ["3.9.x.kraft"]
  server_properties = "num.partitions = ${var.partitions}\nallow.everyone.if.no.acl.found = false\n"
}

resource "aws_msk_cluster" "this" {
  cluster_name           = "terraform"
  kafka_version          = "3.9.x.kraft"
  number_of_broker_nodes = var.broker_count

  broker_node_group_info {
    client_subnets  = [for subnet in aws_subnet.this : subnet.id]
    instance_type   = "kafka.m7g.large"
    security_groups = [aws_security_group.this.id]

    storage_info {
      ebs_storage_info {
        volume_size = 10
      }
    }

    dynamic "connectivity_info" {
      for_each = var.connectable ? [1] : []

      content {
        vpc_connectivity {
          client_authentication {
            sasl {
              iam = true
            }
          }
        }
      }
    }
  }

  client_authentication {
    sasl {
      iam   = true
      scram = true
    }
  }

  configuration_info {
    arn      = aws_msk_configuration.this.arn
    revision = aws_msk_configuration.this.latest_revision
  }

  encryption_info {
    encryption_at_rest_kms_key_arn = aws_kms_key.this.arn
  }

  tags = { team = "a" }
}

resource "aws_msk_scram_secret_association" "this" {
  cluster_arn     = aws_msk_cluster.this.arn
  secret_arn_list = [aws_secretsmanager_secret.this.arn]

  depends_on = [aws_secretsmanager_secret_version.this]
}

resource "aws_msk_cluster_policy" "this" {
  cluster_arn = aws_msk_cluster.this.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::222222222222:root" }
      Action    = ["kafka:CreateVpcConnection", "kafka:GetBootstrapBrokers"]
      Resource  = aws_msk_cluster.this.arn
    }]
  })
}

resource "aws_msk_vpc_connection" "this" {
  count = var.connectable ? 1 : 0

  authentication     = "SASL_IAM"
  client_subnets     = [for subnet in aws_subnet.this : subnet.id]
  security_groups    = [aws_security_group.this.id]
  target_cluster_arn = aws_msk_cluster.this.arn
  vpc_id             = aws_vpc.this.id
}

data "aws_msk_broker_nodes" "this" {
  cluster_arn = aws_msk_cluster.this.arn
}

# Not the cluster's own attribute: the provider leaves that as it was when brokers are added.
data "aws_msk_bootstrap_brokers" "this" {
  cluster_arn = aws_msk_cluster.this.arn
}

output "endpoints" {
  value = sort(flatten([for node in data.aws_msk_broker_nodes.this.node_info_list : node.endpoints]))
}

output "bootstrap" {
  value = data.aws_msk_bootstrap_brokers.this.bootstrap_brokers_sasl_scram
}
