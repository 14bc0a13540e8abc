# Another team's program in this VPC: egress from its security group to the brokers, and a policy to attach to its role.
locals {
  _partition = data.aws_partition.this.partition
  _kafka     = "arn:${local._partition}:kafka:${var.region}:${var.account_id}"
  _glue      = "arn:${local._partition}:glue:${var.region}:${var.account_id}"
  # A cluster's ARN ends with a part that MSK generates.
  _cluster = "${var.cluster_name}/*"

  _connect = [{
    Sid      = "LogInToTheBrokers"
    Effect   = "Allow"
    Action   = concat(["kafka-cluster:Connect"], length(var.writes) > 0 ? ["kafka-cluster:WriteDataIdempotently"] : [])
    Resource = ["${local._kafka}:cluster/${local._cluster}"]
  }]
  _read = [
    {
      Sid      = "ReadItsTopics"
      Effect   = "Allow"
      Action   = ["kafka-cluster:DescribeTopic", "kafka-cluster:ReadData"]
      Resource = [for topic in sort(var.reads) : "${local._kafka}:topic/${local._cluster}/${topic}"]
    },
    {
      Sid      = "JoinItsGroups"
      Effect   = "Allow"
      Action   = ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"]
      Resource = ["${local._kafka}:group/${local._cluster}/${var.name}-*"]
    },
  ]
  _write = [
    {
      Sid      = "WriteItsTopics"
      Effect   = "Allow"
      Action   = ["kafka-cluster:DescribeTopic", "kafka-cluster:WriteData"]
      Resource = [for topic in sort(var.writes) : "${local._kafka}:topic/${local._cluster}/${topic}"]
    },
    {
      Sid    = "RegisterSchemas"
      Effect = "Allow"
      Action = [
        "glue:CreateSchema",
        "glue:GetSchema",
        "glue:GetSchemaByDefinition",
        "glue:ListSchemaVersions",
        "glue:PutSchemaVersionMetadata",
        "glue:RegisterSchemaVersion",
      ]
      Resource = concat(
        ["${local._glue}:registry/${var.registry}"],
        [for topic in sort(var.writes) : "${local._glue}:schema/${var.registry}/${topic}"],
      )
    },
    {
      # Without a version nobody can read its records, and refused versions become usable.
      Sid      = "KeepSchemaVersions"
      Effect   = "Deny"
      Action   = ["glue:DeleteSchema", "glue:DeleteSchemaVersions"]
      Resource = ["${local._glue}:registry/${var.registry}", "${local._glue}:schema/${var.registry}/*"]
    },
  ]
  _read_schemas = [{
    # Versions are read by UUID, which IAM cannot narrow to a registry.
    Sid      = "ReadSchemaVersions"
    Effect   = "Allow"
    Action   = ["glue:GetSchemaVersion"]
    Resource = ["*"]
  }]

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      local._connect,
      [for statement in local._read : statement if length(var.reads) > 0],
      [for statement in local._write : statement if length(var.writes) > 0],
      local._read_schemas,
    )
  })
}

data "aws_partition" "this" {}

resource "aws_iam_policy" "this" {
  name        = "${var.prefix}-client-${var.name}"
  description = "What the client ${var.name} may do with the brokers and schemas of ${var.prefix}"
  policy      = local.policy
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = var.egress

  security_group_id            = var.security_group_id
  description                  = "${var.prefix}: ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
  referenced_security_group_id = each.value.security_group_id

  tags = { Name = "${var.prefix}-client-${var.name}-${each.key}" }
}
