# Change data capture: a connector of MSK Connect that writes the changes of a PostgreSQL database to a topic per table.
locals {
  name = "${var.platform.prefix}-cdc-${replace(var.name, "_", "-")}"

  place    = "${var.platform.region}:${var.platform.account_id}"
  _kafka   = "arn:${var.platform.partition}:kafka:${local.place}"
  _cluster = "${var.platform.brokers.name}/*"
  # As the MSK Developer Guide has it in "Understand service execution role".
  _connect = [
    {
      Sid      = "Connect"
      Effect   = "Allow"
      Action   = ["kafka-cluster:Connect", "kafka-cluster:DescribeCluster"]
      Resource = ["${local._kafka}:cluster/${local._cluster}"]
    },
    {
      Sid      = "WriteChanges"
      Effect   = "Allow"
      Action   = ["kafka-cluster:CreateTopic", "kafka-cluster:DescribeTopic", "kafka-cluster:WriteData"]
      Resource = ["${local._kafka}:topic/${local._cluster}/${var.name}.*", "${local._kafka}:topic/${local._cluster}/__debezium-heartbeat.${var.name}"]
    },
    {
      Sid      = "KeepOffsets"
      Effect   = "Allow"
      Action   = ["kafka-cluster:CreateTopic", "kafka-cluster:DescribeTopic", "kafka-cluster:ReadData", "kafka-cluster:WriteData"]
      Resource = [for what in ["configs", "offsets", "status"] : "${local._kafka}:topic/${local._cluster}/__amazon_msk_connect_${what}_${local.name}*"]
    },
    {
      Sid      = "JoinTheGroup"
      Effect   = "Allow"
      Action   = ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"]
      Resource = ["${local._kafka}:group/${local._cluster}/__amazon_msk_connect_*", "${local._kafka}:group/${local._cluster}/connect-${local.name}*"]
    },
    {
      Sid      = "ReadTheLogin"
      Effect   = "Allow"
      Action   = ["secretsmanager:GetSecretValue"]
      Resource = ["arn:${var.platform.partition}:secretsmanager:${local.place}:secret:${local.secret_name}-??????"]
    },
    {
      Sid       = "DecryptTheLogin"
      Effect    = "Allow"
      Action    = ["kms:Decrypt"]
      Resource  = ["arn:${var.platform.partition}:kms:${local.place}:key/*"]
      Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${var.platform.region}.amazonaws.com" } }
    },
  ]
  # As the Glue Developer Guide has it in "IAM examples for serializers"; a version by its id is of no registry.
  _schemas_of = "arn:${var.platform.partition}:glue:${local.place}:schema/${coalesce(var.registry.glue, "none")}"
  _register = [
    {
      Sid    = "RegisterSchemas"
      Effect = "Allow"
      Action = ["glue:CreateSchema", "glue:GetSchemaByDefinition", "glue:RegisterSchemaVersion"]
      Resource = [
        "arn:${var.platform.partition}:glue:${local.place}:registry/${coalesce(var.registry.glue, "none")}",
        "${local._schemas_of}/${var.name}.*",
        "${local._schemas_of}/__debezium-heartbeat.${var.name}-*",
      ]
    },
    {
      Sid      = "ReadVersionsById"
      Effect   = "Allow"
      Action   = ["glue:GetSchemaVersion", "glue:PutSchemaVersionMetadata"]
      Resource = ["*"]
    },
  ]
  by_glue    = var.registry.glue != null
  statements = concat(local._connect, local.by_glue ? local._register : [])

  plugin = coalesce(var.plugin, "../../build/debezium-postgres-${local.by_glue ? "glue-" : ""}plugin.zip")
}

module "bucket" {
  source = "../../modules/private-bucket"

  name          = "${local.name}-${var.platform.account_id}-${var.platform.region}"
  force_destroy = var.platform.retention.force_destroy
  kms_key_arn   = module.key.arn
}

resource "aws_s3_object" "plugin" {
  bucket      = module.bucket.name
  key         = "plugins/${filemd5(local.plugin)}.zip"
  source      = local.plugin
  source_hash = filebase64sha256(local.plugin)

  # S3 takes ten tags of an object, and the bucket has them all.
  override_provider {
    default_tags {
      tags = {}
    }
  }
}

# A plugin cannot be changed: another file is another plugin, which the connector gets first.
resource "aws_mskconnect_custom_plugin" "this" {
  name         = "${local.name}-${substr(filemd5(local.plugin), 0, 8)}"
  content_type = "ZIP"
  description  = "Debezium for PostgreSQL with the Avro converter of ${local.by_glue ? "AWS" : "Apicurio"}"

  location {
    s3 {
      bucket_arn = module.bucket.arn
      file_key   = aws_s3_object.plugin.key
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_mskconnect_worker_configuration" "this" {
  name                    = "${local.name}-${substr(md5(jsonencode(local.worker)), 0, 8)}"
  description             = "Offsets that outlive the connector"
  properties_file_content = join("", [for name, value in local.worker : "${name}=${value}\n"])

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_mskconnect_connector" "this" {
  count = var.prepared ? 1 : 0

  name                       = local.name
  description                = "Changes of ${var.database.name} as topics ${var.name}.SCHEMA.TABLE"
  connector_configuration    = local.connector
  kafkaconnect_version       = "3.7.x"
  service_execution_role_arn = aws_iam_role.this.arn

  capacity {
    provisioned_capacity {
      mcu_count    = var.mcu_count
      worker_count = 1
    }
  }

  kafka_cluster {
    apache_kafka_cluster {
      bootstrap_servers = var.platform.brokers.bootstrap_servers

      vpc {
        security_groups = [aws_security_group.this.id]
        subnets         = var.platform.network.subnet_ids
      }
    }
  }

  kafka_cluster_client_authentication {
    authentication_type = "IAM"
  }

  kafka_cluster_encryption_in_transit {
    encryption_type = "TLS"
  }

  log_delivery {
    worker_log_delivery {
      cloudwatch_logs {
        enabled   = true
        log_group = aws_cloudwatch_log_group.this.name
      }
    }
  }

  plugin {
    custom_plugin {
      arn      = aws_mskconnect_custom_plugin.this.arn
      revision = aws_mskconnect_custom_plugin.this.latest_revision
    }
  }

  worker_configuration {
    arn      = aws_mskconnect_worker_configuration.this.arn
    revision = aws_mskconnect_worker_configuration.this.latest_revision
  }

  depends_on = [
    aws_iam_role_policy.this,
    aws_secretsmanager_secret_version.this,
    aws_vpc_security_group_egress_rule.this,
    aws_vpc_security_group_ingress_rule.brokers,
    aws_vpc_security_group_ingress_rule.database,
    aws_vpc_security_group_ingress_rule.endpoints,
  ]
}

resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_158: a worker logs settings and positions, no rows
  # checkov:skip=CKV_AWS_338: retention.log_days of the root decides
  name              = "/aws/mskconnect/${local.name}"
  retention_in_days = var.platform.retention.log_days
}

resource "aws_iam_role" "this" {
  name                 = local.name
  description          = "What the connector ${local.name} may do"
  permissions_boundary = var.platform.permissions_boundary
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "kafkaconnect.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = {
        ArnLike      = { "aws:SourceArn" = "arn:${var.platform.partition}:kafkaconnect:${local.place}:connector/${local.name}/*" }
        StringEquals = { "aws:SourceAccount" = var.platform.account_id }
      }
    }]
  })
}

resource "aws_iam_role_policy" "this" {
  name   = "capture"
  role   = aws_iam_role.this.id
  policy = jsonencode({ Version = "2012-10-17", Statement = local.statements })
}
