# All permissions of each producer function, which writes its topic and registers its schema (or only reads it: the policy fixed), and of each client;
# those of clients and jobs on topics. A cluster's ARN ends with a part that MSK generates.
locals {
  _kafka    = "arn:${local._partition}:kafka:${var.region}:${var.account_id}"
  _cluster  = "${module.broker_cluster.name}/*"
  _registry = "arn:${local._partition}:glue:${var.region}:${var.account_id}"

  _registering = [
    "glue:CreateSchema",
    "glue:GetSchema",
    "glue:GetSchemaByDefinition",
    "glue:ListSchemaVersions",
    "glue:PutSchemaVersionMetadata",
    "glue:RegisterSchemaVersion",
  ]

  producer_policies = { for name, producer in local.producers : name => jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "LogInToTheBrokers"
          Effect   = "Allow"
          Action   = ["kafka-cluster:Connect", "kafka-cluster:WriteDataIdempotently"]
          Resource = "${local._kafka}:cluster/${local._cluster}"
        },
        {
          # If the topic is missing, the first record creates it.
          Sid    = "MakeAndWriteItsTopic"
          Effect = "Allow"
          Action = [
            "kafka-cluster:CreateTopic",
            "kafka-cluster:DescribeTopic",
            "kafka-cluster:WriteData",
          ]
          Resource = "${local._kafka}:topic/${local._cluster}/${producer.topic}"
        },
      ],
      [for statement in [
        {
          Sid    = producer.policy == "fixed" ? "ListSchemaVersions" : "RegisterSchemas"
          Effect = "Allow"
          # With sets_mode, the function sets the compatibility mode, also of an existing schema.
          Action = producer.policy == "fixed" ? ["glue:ListSchemaVersions"] : concat(local._registering, producer.sets_mode ? ["glue:UpdateSchema"] : [])
          Resource = [
            "${local._registry}:registry/${var.registry}",
            "${local._registry}:schema/${var.registry}/${producer.schema}",
          ]
        },
        {
          # Without a version nobody can read its records, and refused versions become usable.
          Sid      = "KeepSchemaVersions"
          Effect   = "Deny"
          Action   = ["glue:DeleteSchema", "glue:DeleteSchemaVersions"]
          Resource = ["${local._registry}:registry/${var.registry}", "${local._registry}:schema/${var.registry}/*"]
        },
        {
          # Versions are read by UUID, which IAM cannot narrow to a registry.
          Sid      = "ReadSchemaVersions"
          Effect   = "Allow"
          Action   = ["glue:GetSchemaVersion"]
          Resource = "*"
        },
      ] : statement if producer.registry == null],
      [for statement in [
        {
          Sid      = "ReadTheSecretOfItsRegistry"
          Effect   = "Allow"
          Action   = ["secretsmanager:GetSecretValue"]
          Resource = [try(producer.registry.secret_arn, null)]
        },
        {
          # Only a customer managed key takes it.
          Sid      = "DecryptTheSecretOfItsRegistry"
          Effect   = "Allow"
          Action   = ["kms:Decrypt"]
          Resource = ["arn:${local._partition}:kms:${var.region}:${var.account_id}:key/*"]
          Condition = { StringEquals = {
            "kms:EncryptionContext:SecretARN" = try(producer.registry.secret_arn, null)
            "kms:ViaService"                  = "secretsmanager.${var.region}.amazonaws.com"
          } }
        },
      ] : statement if try(producer.registry.secret_arn, null) != null],
      jsondecode(module.rejected_events.writer_policies[producer.function]).Statement,
    )
  }) }

  _topics_used = merge(
    { for name, client in var.clients : name => { reads = client.reads, transactions = client.transactions, writes = client.writes } },
    { for name, job in var.jobs : name => { reads = job.reads, transactions = false, writes = job.writes } },
  )
  _kafka_statements = { for name, used in local._topics_used : name => concat(
    [{
      Sid      = "LogInToTheBrokers"
      Effect   = "Allow"
      Action   = concat(["kafka-cluster:Connect"], length(used.writes) > 0 ? ["kafka-cluster:WriteDataIdempotently"] : [])
      Resource = ["${local._kafka}:cluster/${local._cluster}"]
    }],
    [for statement in [
      {
        Sid      = "ReadItsTopics"
        Effect   = "Allow"
        Action   = ["kafka-cluster:DescribeTopic", "kafka-cluster:ReadData"]
        Resource = [for topic in sort(used.reads) : "${local._kafka}:topic/${local._cluster}/${topic}"]
      },
      {
        Sid      = "JoinItsGroups"
        Effect   = "Allow"
        Action   = ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"]
        Resource = ["${local._kafka}:group/${local._cluster}/${name}-*"]
      },
    ] : statement if length(used.reads) > 0],
    [for statement in [{
      Sid      = "WriteItsTopics"
      Effect   = "Allow"
      Action   = ["kafka-cluster:DescribeTopic", "kafka-cluster:WriteData"]
      Resource = [for topic in sort(used.writes) : "${local._kafka}:topic/${local._cluster}/${topic}"]
    }] : statement if length(used.writes) > 0],
    [for statement in [{
      Sid      = "UseItsTransactionalIds"
      Effect   = "Allow"
      Action   = ["kafka-cluster:AlterTransactionalId", "kafka-cluster:DescribeTransactionalId"]
      Resource = ["${local._kafka}:transactional-id/${local._cluster}/${name}-*"]
    }] : statement if used.transactions],
  ) }

  client_policies = { for name, client in var.clients : name => jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      local._kafka_statements[name],
      [for statement in [{
        # DescribeCluster reads access lists, AlterCluster creates and deletes them.
        Sid      = "UseAccessLists"
        Effect   = "Allow"
        Action   = concat(["kafka-cluster:DescribeCluster"], client.access_lists == "change" ? ["kafka-cluster:AlterCluster"] : [])
        Resource = ["${local._kafka}:cluster/${local._cluster}"]
      }] : statement if client.access_lists != "none"],
      [for statement in [
        {
          # `penstock produce --dry-run` reads a schema with its tags. If there is no such schema, it lists those that exist.
          Sid    = "RegisterSchemas"
          Effect = "Allow"
          Action = concat(local._registering, ["glue:GetTags", "glue:ListSchemas"])
          Resource = concat(
            ["${local._registry}:registry/${var.registry}"],
            [for schema in distinct(flatten([for topic in sort(client.writes) : local._schemas[topic]])) : "${local._registry}:schema/${var.registry}/${schema}"],
          )
        },
        {
          # Without a version nobody can read its records, and refused versions become usable.
          Sid      = "KeepSchemaVersions"
          Effect   = "Deny"
          Action   = ["glue:DeleteSchema", "glue:DeleteSchemaVersions"]
          Resource = ["${local._registry}:registry/${var.registry}", "${local._registry}:schema/${var.registry}/*"]
        },
      ] : statement if length(client.writes) > 0],
      [{
        # Versions are read by UUID, which IAM cannot narrow to a registry.
        Sid      = "ReadSchemaVersions"
        Effect   = "Allow"
        Action   = ["glue:GetSchemaVersion"]
        Resource = ["*"]
      }],
    )
  }) }
}
