locals {
  is_provisioned = var.cluster.type == "provisioned"
  name           = "${var.prefix}-cluster"
  kafka_version  = coalesce(var.cluster.kafka_version, "3.9.x.kraft")
  kafka_versions = jsondecode(file("${path.module}/../releases.json")).msk
  broker_count   = coalesce(var.cluster.broker_count, length(var.subnet_ids))
  volume_gib     = coalesce(var.cluster.volume_gib, 100)
  max_volume_gib = coalesce(var.cluster.max_volume_gib, 1000)
  # MSK has no automatic scaling in Cape Town, Osaka and Malaysia (Developer Guide, "Automatic scaling for Amazon MSK clusters").
  volumes_grow = local.is_provisioned && !contains(["af-south-1", "ap-northeast-3", "ap-southeast-5"], var.region)

  default_properties = {
    # Timestamps of clients may be of any year, and would order the versions of a row (docs/adr/0008-row-keys.md).
    "log.message.timestamp.type" = "LogAppendTime"
  }
  # By zones, not by brokers: a new broker must not change the configuration, which would restart the others.
  _replicas     = tostring(length(var.subnet_ids))
  _min_replicas = tostring(length(var.subnet_ids) - 1)
  held_properties = {
    "allow.everyone.if.no.acl.found"           = "false"
    "auto.create.topics.enable"                = "false"
    "default.replication.factor"               = local._replicas
    "min.insync.replicas"                      = local._min_replicas
    "offsets.topic.replication.factor"         = local._replicas
    "transaction.state.log.min.isr"            = local._min_replicas
    "transaction.state.log.replication.factor" = local._replicas
    "unclean.leader.election.enable"           = "false"
  }

  secret_prefix = "AmazonMSK_${var.prefix}_"

  # Outside of /aws/vendedlogs/, each group takes a piece of the account's one resource policy for log delivery.
  log_group     = "/aws/vendedlogs/msk/${local.name}"
  log_group_arn = "arn:${data.aws_partition.this.partition}:logs:${var.region}:${var.account_id}:log-group:${local.log_group}"

  zones_stay = "The cluster stands in other subnets than subnet_ids has now (${join(", ", keys(var.subnet_ids))}); give it its own again, since zones are fixed for a cluster's life and another one would begin without its records."

  # Three bootstrap brokers are enough, and functions that have them do not change when brokers are added.
  zone_name         = one([for cluster in aws_msk_cluster.this : regex("^b-[0-9]+[.]([^:]+)", cluster.bootstrap_brokers_sasl_iam)[0]])
  bootstrap_brokers = local.is_provisioned ? [for id in range(1, min(local.broker_count, 3) + 1) : "b-${id}.${local.zone_name}"] : []
}

data "aws_partition" "this" {}

################################################################################
# Provisioned
################################################################################

# `kafka_versions` is left out because it cannot change: a new version of Kafka would replace the configuration, under
# another name, while the cluster uses it. Without it, a new version only updates the cluster.
resource "aws_msk_configuration" "this" {
  count = local.is_provisioned ? 1 : 0

  name = local.name
  # With two zones, one acknowledges alone while the other is down.
  description = "Nobody is let in and no topic is made by default${length(var.subnet_ids) > 2 ? ", and no record is lost with a zone" : ""}"
  server_properties = join("", [
    for name, value in merge(local.default_properties, var.cluster.properties, local.held_properties) : "${name}=${value}\n"
  ])
}

resource "aws_msk_cluster" "this" {
  count = local.is_provisioned ? 1 : 0

  cluster_name           = local.name
  kafka_version          = local.kafka_version
  number_of_broker_nodes = local.broker_count
  enhanced_monitoring    = coalesce(var.cluster.enhanced_monitoring, "DEFAULT")

  broker_node_group_info {
    client_subnets  = values(var.subnet_ids)
    instance_type   = coalesce(var.cluster.instance_type, "kafka.m7g.large")
    security_groups = [aws_security_group.this.id]

    storage_info {
      ebs_storage_info {
        volume_size = local.volume_gib
      }
    }

    dynamic "connectivity_info" {
      for_each = var.exposure == "multi_vpc" ? [true] : []

      content {
        vpc_connectivity {
          client_authentication {
            sasl {
              scram = true
            }
          }
        }
      }
    }
  }

  client_authentication {
    unauthenticated = false

    sasl {
      iam   = true
      scram = true
    }

    # With an empty list the provider switches these logins off; without the block it says nothing of them.
    dynamic "tls" {
      for_each = var.cluster.certificate_authorities != null ? [true] : []

      content {
        certificate_authority_arns = var.cluster.certificate_authorities
      }
    }
  }

  configuration_info {
    arn      = aws_msk_configuration.this[0].arn
    revision = aws_msk_configuration.this[0].latest_revision
  }

  encryption_info {
    encryption_at_rest_kms_key_arn = module.brokers_key[0].arn

    encryption_in_transit {
      client_broker = "TLS"
      in_cluster    = true
    }
  }

  logging_info {
    broker_logs {
      cloudwatch_logs {
        enabled   = true
        log_group = aws_cloudwatch_log_group.brokers[0].name
      }
    }
  }

  open_monitoring {
    prometheus {
      jmx_exporter {
        enabled_in_broker = true
      }

      node_exporter {
        enabled_in_broker = true
      }
    }
  }

  lifecycle {
    # With it go all records, also when a lower version replaces it (destroyable_override.tf.example).
    prevent_destroy = true

    ignore_changes = [
      # Another set would replace the cluster and lose all records.
      broker_node_group_info[0].client_subnets,
      # The volume grows by itself (below), or by hand, and never shrinks.
      broker_node_group_info[0].storage_info[0].ebs_storage_info[0].volume_size,
    ]

    # The number is compared first: subnets that do not exist yet are unknown, and would be created before the error.
    postcondition {
      condition = (
        length(self.broker_node_group_info[0].client_subnets) != length(var.subnet_ids) ? false :
        self.broker_node_group_info[0].client_subnets == toset(values(var.subnet_ids))
      )
      error_message = local.zones_stay
    }

    # The provider ignores a block that was removed, and would leave the cluster open.
    postcondition {
      condition = var.exposure == "multi_vpc" || !try(
        self.broker_node_group_info[0].connectivity_info[0].vpc_connectivity[0].client_authentication[0].sasl[0].scram, false
      )
      error_message = "The cluster still has multi-VPC connectivity, which Terraform cannot take back; delete its connections and run `aws kafka update-connectivity` as in docs/operate/brokers.md#change-the-exposure, or set exposure to multi_vpc."
    }

    # The same with a way to log in: MSK would keep it, or refuse this apply and each later one.
    postcondition {
      condition     = var.cluster.certificate_authorities != null || self.bootstrap_brokers_tls == ""
      error_message = "The cluster still admits client certificates, and would go on without certificate_authorities; set it to [], which switches these logins off, and leave it so."
    }
  }
}

resource "aws_cloudwatch_log_group" "brokers" {
  count = local.is_provisioned ? 1 : 0

  name              = local.log_group
  kms_key_id        = module.brokers_key[0].arn
  retention_in_days = var.retention.log_days
}

resource "aws_appautoscaling_target" "storage" {
  count = local.volumes_grow ? 1 : 0

  service_namespace  = "kafka"
  resource_id        = aws_msk_cluster.this[0].arn
  scalable_dimension = "kafka:broker-storage:VolumeSize"
  min_capacity       = local.volume_gib
  max_capacity       = local.max_volume_gib
}

resource "aws_appautoscaling_policy" "storage" {
  count = local.volumes_grow ? 1 : 0

  name               = "${local.name}-storage"
  service_namespace  = aws_appautoscaling_target.storage[0].service_namespace
  resource_id        = aws_appautoscaling_target.storage[0].resource_id
  scalable_dimension = aws_appautoscaling_target.storage[0].scalable_dimension
  policy_type        = "TargetTrackingScaling"

  target_tracking_scaling_policy_configuration {
    disable_scale_in = true
    target_value     = 60

    predefined_metric_specification {
      predefined_metric_type = "KafkaBrokerStorageUtilization"
    }
  }
}

################################################################################
# Serverless
################################################################################

resource "aws_msk_serverless_cluster" "this" {
  count = local.is_provisioned ? 0 : 1

  cluster_name = local.name

  client_authentication {
    sasl {
      iam {
        enabled = true
      }
    }
  }

  vpc_config {
    security_group_ids = [aws_security_group.this.id]
    subnet_ids         = values(var.subnet_ids)
  }

  lifecycle {
    # As in a provisioned cluster (above).
    prevent_destroy = true
    ignore_changes  = [vpc_config[0].subnet_ids]

    postcondition {
      condition = (
        length(self.vpc_config[0].subnet_ids) != length(var.subnet_ids) ? false :
        self.vpc_config[0].subnet_ids == toset(values(var.subnet_ids))
      )
      error_message = local.zones_stay
    }
  }
}
