# Two roles per consumer: the reader for its programs at run time, the hand-over for its Terraform. Both trust the account,
# narrowed to roles by condition, not by principal: those roles need not exist yet, and one that is deleted and made again
# is still let in. A reader may be the beginning of a name and `*`, for a consumer adds jobs without asking the producer.

locals {
  partition = data.aws_partition.this.partition
  place     = "${var.region}:${var.account_id}"

  # Secrets Manager ends an ARN with a dash and six characters of its own.
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
}

# On `*`, for a version is asked for by its id alone, and IAM judges that against no registry or schema: consumers check
# the ARN that comes back.
resource "aws_iam_role_policy" "reader" {
  for_each = var.consumers

  name = "schemas"
  role = aws_iam_role.reader[each.key].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "SchemaVersionsById"
      Effect    = "Allow"
      Action    = "glue:GetSchemaVersion"
      Resource  = "*"
      Condition = { StringEquals = { "aws:RequestedRegion" = var.region } }
    }]
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
}

resource "aws_iam_role_policy" "password" {
  for_each = var.consumers

  name = "password"
  role = aws_iam_role.hand_over[each.key].id
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
        # By what it is used for, since its id is not known before it is made.
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

# Apart from the password, since these ARNs alone are made up by AWS. With multi-VPC connectivity there are none: MSK accepts
# its own connections by the cluster's policy.
resource "aws_iam_role_policy" "connections" {
  for_each = { for name, consumer in var.consumers : name => consumer if length(consumer.endpoint_service_arns) > 0 }

  name = "connections"
  role = aws_iam_role.hand_over[each.key].id
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
        Resource = "*" # EC2 lists connections for no resource in particular
      },
    ]
  })
}
