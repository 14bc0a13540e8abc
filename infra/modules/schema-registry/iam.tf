# Two roles per consumer: the reader for its programs at run time, the hand-over for its Terraform. Both trust the account,
# narrowed to exact roles by condition, not by principal: those roles need not exist yet, and one that is deleted and made
# anew is still let in. Not by ArnEquals, which takes wildcards.

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
      Principal = { AWS = "arn:${data.aws_partition.this.partition}:iam::${each.value.account_id}:root" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = {
        "aws:PrincipalArn" = sort(each.value.reader_principal_arns)
        "sts:ExternalId"   = each.value.external_id
      } }
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
      Principal = { AWS = "arn:${data.aws_partition.this.partition}:iam::${each.value.account_id}:root" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = {
        "aws:PrincipalArn" = each.value.hand_over_principal_arn
        "sts:ExternalId"   = each.value.external_id
      } }
    }]
  })
}

resource "aws_iam_role_policy" "hand_over" {
  for_each = var.consumers

  name = "hand-over"
  role = aws_iam_role.hand_over[each.key].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "OwnPassword"
          Effect   = "Allow"
          Action   = "secretsmanager:GetSecretValue"
          Resource = each.value.secret_arn
        },
        {
          Sid      = "OwnPasswordsKey"
          Effect   = "Allow"
          Action   = "kms:Decrypt"
          Resource = each.value.secret_key_arn
          Condition = { StringEquals = {
            "kms:EncryptionContext:SecretARN" = each.value.secret_arn
            "kms:ViaService"                  = "secretsmanager.${var.region}.amazonaws.com"
          } }
        },
      ],
      # MSK accepts its own connections by the cluster's policy; only those of endpoint services are accepted by hand.
      [
        for arns in [each.value.endpoint_service_arns] : {
          Sid      = "OwnConnections"
          Effect   = "Allow"
          Action   = ["ec2:AcceptVpcEndpointConnections", "ec2:RejectVpcEndpointConnections"]
          Resource = arns
        } if length(arns) > 0
      ],
      [
        for arns in [each.value.endpoint_service_arns] : {
          Sid      = "SeeConnections"
          Effect   = "Allow"
          Action   = "ec2:DescribeVpcEndpointConnections"
          Resource = "*" # EC2 lists connections for no resource in particular
        } if length(arns) > 0
      ],
    )
  })
}
