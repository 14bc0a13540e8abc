# The role of the instances, which all steps share, and the role with which EMR starts and ends them.
locals {
  place = "${var.region}:${var.account_id}"
  ec2   = "arn:${local.partition}:ec2:${local.place}"

  # No job of EMR Serverless has such a name, and what trusts the roles of jobs by pattern trusts this one.
  role_name = "${var.prefix}-job-emr_cluster"
  role_arn  = "arn:${local.partition}:iam::${var.account_id}:role/${local.role_name}"
  # Inline policies have 10,240 characters together, and all jobs share the role.
  is_long = sum(concat([0], [for policy in values(var.policies) : length(policy)])) > 6000

  own_new      = { StringEquals = { for key, value in local.own_tag : "aws:RequestTag/${key}" => value } }
  own_existing = { StringEquals = { for key, value in local.own_tag : "aws:ResourceTag/${key}" => value } }
  made         = [for kind in ["instance", "launch-template", "network-interface", "volume"] : "${local.ec2}:${kind}/*"]

  parameters = var.parameters_path == null ? [] : [{
    Sid    = "ReadParameters"
    Effect = "Allow"
    Action = ["ssm:GetParametersByPath"]
    # A call by path is judged by the path itself.
    Resource = [for end in ["", "/*"] : "arn:${local.partition}:ssm:${local.place}:parameter${var.parameters_path}${end}"]
  }]
}

resource "aws_iam_role" "instance" {
  name        = local.role_name
  description = "The instances and steps of ${local.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ec2.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  permissions_boundary = var.permissions_boundary
}

resource "aws_iam_instance_profile" "this" {
  name = local.role_name
  role = aws_iam_role.instance.name
}

resource "aws_iam_role_policy" "runtime" {
  name = "runtime"
  role = aws_iam_role.instance.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        # By the folders of infra/modules/spark-application: jobs may keep files of their own in the bucket.
        Sid      = "ReadArtifacts"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = [for folder in ["archives", "bootstrap", "files", "jars", "jobs", "pyfiles"] : "arn:${local.partition}:s3:::${var.artifacts.bucket}/${folder}/*"]
      },
      {
        Sid      = "SeeArtifactsAndLogs"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = ["arn:${local.partition}:s3:::${var.artifacts.bucket}", "arn:${local.partition}:s3:::${local.logs_bucket}"]
      },
      {
        Sid      = "WriteLogs"
        Effect   = "Allow"
        Action   = ["s3:PutObject"]
        Resource = ["arn:${local.partition}:s3:::${local.logs_bucket}/*"]
      },
      {
        # By what the keys are used for, since their ids are not known before they are created.
        Sid      = "UseKeysOfArtifactsAndLogs"
        Effect   = "Allow"
        Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource = ["arn:${local.partition}:kms:${local.place}:key/*"]
        Condition = { StringEquals = {
          "kms:EncryptionContext:aws:s3:arn" = ["arn:${local.partition}:s3:::${var.artifacts.bucket}", "arn:${local.partition}:s3:::${local.logs_bucket}"]
          "kms:ViaService"                   = "s3.${var.region}.amazonaws.com"
        } }
      },
      {
        Sid      = "UnlockDisks"
        Effect   = "Allow"
        Action   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
        Resource = [module.key.arn]
      },
    ], local.parameters)
  })
}

# The rights of each job that may run here.
resource "aws_iam_role_policy" "work" {
  for_each = local.is_long ? {} : var.policies

  name   = "work-${each.key}"
  role   = aws_iam_role.instance.name
  policy = each.value
}

module "long_policy" {
  source = "../long-policy"
  count  = local.is_long ? 1 : 0

  policies  = var.policies
  role_name = aws_iam_role.instance.name
}

resource "aws_iam_role" "service" {
  name        = "${local.name}-service"
  description = "EMR, which starts and ends the instances of ${local.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "elasticmapreduce.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = {
        ArnLike      = { "aws:SourceArn" = "arn:${local.partition}:elasticmapreduce:${local.place}:*" }
        StringEquals = { "aws:SourceAccount" = var.account_id }
      }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

# AmazonEMRServicePolicy_v2 (v6 of February 2026) for one cluster: by its subnet, groups and tag in place of a tag of all
# clusters.
resource "aws_iam_role_policy" "service" {
  # checkov:skip=CKV_AWS_290: EC2 has no resources for the calls on *
  # checkov:skip=CKV_AWS_355: EC2 has no resources for the calls on *
  name = "service"
  role = aws_iam_role.service.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        Sid    = "StartInTheSubnet"
        Effect = "Allow"
        Action = ["ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplateVersion", "ec2:CreateNetworkInterface", "ec2:RunInstances"]
        Resource = [
          "${local.ec2}:security-group/${aws_security_group.access.id}",
          "${local.ec2}:security-group/${aws_security_group.node.id}",
          "${local.ec2}:subnet/${var.network.subnet_id}",
        ]
      },
      {
        # An instance comes with an interface, which has no tag while it is made.
        Sid      = "StartFromImages"
        Effect   = "Allow"
        Action   = ["ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplateVersion", "ec2:RunInstances"]
        Resource = ["arn:${local.partition}:ec2:${var.region}::image/*", "${local.ec2}:capacity-reservation/*", "${local.ec2}:fleet/*", "${local.ec2}:network-interface/*", "${local.ec2}:placement-group/*"]
      },
      {
        Sid       = "MakeWhatHasTheTag"
        Effect    = "Allow"
        Action    = ["ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:CreateNetworkInterface", "ec2:RunInstances"]
        Resource  = local.made
        Condition = local.own_new
      },
      {
        Sid       = "TagWhatItMakes"
        Effect    = "Allow"
        Action    = ["ec2:CreateTags"]
        Resource  = local.made
        Condition = { "ForAnyValue:StringEquals" = { "ec2:CreateAction" = ["CreateFleet", "CreateLaunchTemplate", "CreateNetworkInterface", "RunInstances"] } }
      },
      {
        Sid       = "EndWhatHasTheTag"
        Effect    = "Allow"
        Action    = ["ec2:CreateFleet", "ec2:CreateLaunchTemplateVersion", "ec2:CreateTags", "ec2:DeleteLaunchTemplate", "ec2:DeleteNetworkInterface", "ec2:DeleteTags", "ec2:ModifyInstanceAttribute", "ec2:RunInstances", "ec2:TerminateInstances"]
        Resource  = local.made
        Condition = local.own_existing
      },
      {
        Sid       = "SetRulesOfItsGroups"
        Effect    = "Allow"
        Action    = ["ec2:AuthorizeSecurityGroupEgress", "ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"]
        Resource  = ["${local.ec2}:security-group/*"]
        Condition = local.own_existing
      },
      {
        Sid    = "LookUp"
        Effect = "Allow"
        Action = [
          "ec2:DescribeAccountAttributes", "ec2:DescribeCapacityReservations", "ec2:DescribeDhcpOptions", "ec2:DescribeImages", "ec2:DescribeInstanceTypeOfferings",
          "ec2:DescribeInstances", "ec2:DescribeLaunchTemplates", "ec2:DescribeNetworkAcls", "ec2:DescribeNetworkInterfaces", "ec2:DescribePlacementGroups",
          "ec2:DescribeRouteTables", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVolumeStatus", "ec2:DescribeVolumes",
          "ec2:DescribeVpcAttribute", "ec2:DescribeVpcEndpoints", "ec2:DescribeVpcs",
        ]
        Resource = ["*"]
      },
      {
        Sid       = "GiveInstancesTheirRole"
        Effect    = "Allow"
        Action    = ["iam:PassRole"]
        Resource  = [local.role_arn]
        Condition = { StringLike = { "iam:PassedToService" = "ec2.amazonaws.com*" } }
      },
      {
        Sid      = "EncryptDisks"
        Effect   = "Allow"
        Action   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
        Resource = [module.key.arn]
      },
      {
        Sid       = "LetVolumesUseTheKey"
        Effect    = "Allow"
        Action    = ["kms:CreateGrant"]
        Resource  = [module.key.arn]
        Condition = { Bool = { "kms:GrantIsForAWSResource" = "true" } }
      },
      ], [for endpoint in aws_vpc_endpoint.service : {
        # Not CreateVpcEndpoint: the endpoint is there.
        Sid      = "UseTheEndpoint"
        Effect   = "Allow"
        Action   = ["ec2:ModifyVpcEndpoint"]
        Resource = [endpoint.arn, "${local.ec2}:security-group/${aws_security_group.access.id}", "${local.ec2}:subnet/${var.network.subnet_id}"]
    }])
  })
}
