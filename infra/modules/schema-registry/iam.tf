# Two roles per consumer: the reader for its programs, the hand-over for its Terraform. Both trust the account, narrowed to
# roles by condition, not by principal: those roles need not exist yet, and a role that is deleted and created again is
# still admitted. A reader may be a prefix and `*`, so a consumer can add jobs without a change in the producer account.

locals {
  partition = data.aws_partition.this.partition
  place     = "${var.region}:${var.account_id}"

  # Secrets Manager appends a dash and six characters to an ARN.
  secret_arns = {
    for name, consumer in var.consumers :
    name => "arn:${local.partition}:secretsmanager:${local.place}:secret:${consumer.secret_name}-??????"
  }
}

################################################################################
# Reader
################################################################################

resource "aws_iam_role" "reader" {
  for_each = var.consumers

  name        = "${var.prefix}-${each.key}-reader"
  description = "Reads schemas for the programs of ${each.key}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "ProgramsOfTheConsumer"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${each.value.account_id}:root" }
      Action    = "sts:AssumeRole"
      Condition = {
        StringEquals = { "sts:ExternalId" = each.value.external_id }
        StringLike   = { "aws:PrincipalArn" = sort(each.value.reader_principal_arns) }
      }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

# On `*`, because a version is requested by its id only and IAM evaluates no registry or schema: consumers check the ARN
# that is returned.
resource "aws_iam_role_policy" "reader" {
  for_each = var.consumers

  name = "schemas"
  role = aws_iam_role.reader[each.key].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [{
        Sid       = "SchemaVersionsById"
        Effect    = "Allow"
        Action    = "glue:GetSchemaVersion"
        Resource  = "*"
        Condition = { StringEquals = { "aws:RequestedRegion" = var.region } }
        },
        {
          # A program that grows tables looks for versions that no record has yet; it reads them by the right above. People
          # look at schemas, their modes and their versions (penstock schema).
          Sid    = "Schemas"
          Effect = "Allow"
          Action = ["glue:GetSchema", "glue:GetTags", "glue:ListSchemaVersions", "glue:ListSchemas"]
          Resource = [
            "arn:${local.partition}:glue:${local.place}:registry/${var.name}",
            "arn:${local.partition}:glue:${local.place}:schema/${var.name}/*",
          ]
      }],
      [for schemas in [each.value.written_schemas] : {
        # AWS's serialisers ask for the version of a definition, and register none.
        Sid    = "WrittenSchemas"
        Effect = "Allow"
        Action = "glue:GetSchemaByDefinition"
        Resource = concat(
          ["arn:${local.partition}:glue:${local.place}:registry/${var.name}"],
          [for schema in schemas : "arn:${local.partition}:glue:${local.place}:schema/${var.name}/${schema}"],
        )
      } if length(schemas) > 0],
    )
  })
}

################################################################################
# Hand-over
################################################################################

resource "aws_iam_role" "hand_over" {
  for_each = var.consumers

  name        = "${var.prefix}-${each.key}-hand-over"
  description = "Hands the password and the connections of ${each.key} to its Terraform"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "TerraformOfTheConsumer"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${each.value.account_id}:root" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = {
        "aws:PrincipalArn" = each.value.hand_over_principal_arn
        "sts:ExternalId"   = each.value.external_id
      } }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

resource "aws_iam_role_policy" "password" {
  for_each = var.consumers

  name = "password"
  role = aws_iam_role.hand_over[each.key].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "OwnPassword"
        Effect   = "Allow"
        Action   = "secretsmanager:GetSecretValue"
        Resource = local.secret_arns[each.key]
      },
      {
        # By what the key is used for, since its id is not known before it is created.
        Sid      = "OwnPasswordsKey"
        Effect   = "Allow"
        Action   = "kms:Decrypt"
        Resource = "arn:${local.partition}:kms:${local.place}:key/*"
        Condition = {
          StringEquals = { "kms:ViaService" = "secretsmanager.${var.region}.amazonaws.com" }
          StringLike   = { "kms:EncryptionContext:SecretARN" = local.secret_arns[each.key] }
        }
      },
    ]
  })
}

# Separate from the password, since only these ARNs are generated by AWS. With multi-VPC connectivity there are none: the
# cluster's policy admits MSK's own connections.
resource "aws_iam_role_policy" "connections" {
  for_each = { for name, consumer in var.consumers : name => consumer if length(consumer.endpoint_service_arns) > 0 }

  name = "connections"
  role = aws_iam_role.hand_over[each.key].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "OwnConnections"
        Effect   = "Allow"
        Action   = ["ec2:AcceptVpcEndpointConnections", "ec2:RejectVpcEndpointConnections"]
        Resource = each.value.endpoint_service_arns
      },
      {
        Sid      = "SeeConnections"
        Effect   = "Allow"
        Action   = "ec2:DescribeVpcEndpointConnections"
        Resource = "*" # EC2 has no resource for listing connections
      },
    ]
  })
}
