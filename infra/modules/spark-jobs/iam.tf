# The execution roles: the policy that the caller gives, and the rights of every run.
locals {
  place = "${var.region}:${var.account_id}"

  # `-job-` before the name, so that a pattern can match the roles of jobs only.
  role_names    = { for name in keys(var.roles) : name => "${var.prefix}-job-${name}" }
  role_arns     = { for name, role in local.role_names : name => "arn:${var.partition}:iam::${var.account_id}:role/${role}" }
  keys_arn      = "arn:${var.partition}:kms:${local.place}:key/*"
  log_group_arn = "arn:${var.partition}:logs:${local.place}:log-group:${var.application.log_group}"

  # Inline policies have 10,240 characters together, of which those of every run take less than 2,240.
  long_policies = toset([for name, policy in var.roles : name if length(policy) > 8000])
}

resource "aws_iam_role" "job" {
  for_each = local.role_names

  name        = each.value
  description = "What ${each.key} may do in ${var.application.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "emr-serverless.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = {
        # Any application of this account: its id is not known before it is created.
        ArnLike      = { "aws:SourceArn" = "arn:${var.partition}:emr-serverless:${local.place}:/applications/*" }
        StringEquals = { "aws:SourceAccount" = var.account_id }
      }
    }]
  })

  permissions_boundary = var.permissions_boundary
}

resource "aws_iam_role_policy" "runtime" {
  for_each = local.role_names

  name = "runtime"
  role = aws_iam_role.job[each.key].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        # By the folders of infra/modules/spark-application: jobs may keep files of their own in the bucket.
        Sid      = "ReadItsArtifacts"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = [for folder in ["archives", "files", "jars", "jobs", "pyfiles"] : "${var.application.bucket.arn}/${folder}/*"]
      },
      {
        # Without it S3 answers that a missing file may not be read.
        Sid      = "SeeItsArtifacts"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [var.application.bucket.arn]
      },
      {
        # By what the key is used for, since its id is not known before it is created.
        Sid      = "DecryptItsArtifacts"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [local.keys_arn]
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:aws:s3:arn" = var.application.bucket.arn
            "kms:ViaService"                   = "s3.${var.region}.amazonaws.com"
          }
        }
      },
      {
        Sid      = "WriteItsLog"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
        Resource = ["${local.log_group_arn}:*"]
      },
      {
        # EMR looks for the log group among all log groups.
        Sid      = "FindItsLog"
        Effect   = "Allow"
        Action   = ["logs:DescribeLogGroups"]
        Resource = ["arn:${var.partition}:logs:${local.place}:*"]
      },
      ], [
      # A call by path is judged by the path itself.
      for path in contains(keys(var.parameters), each.key) ? ["/${var.prefix}/${each.key}"] : [] : {
        Sid      = "ReadItsParameters"
        Effect   = "Allow"
        Action   = ["ssm:GetParametersByPath"]
        Resource = ["arn:${var.partition}:ssm:${local.place}:parameter${path}"]
      }
    ])
  })
}

# The rights of each role.
resource "aws_iam_role_policy" "work" {
  for_each = { for name, policy in var.roles : name => policy if !contains(local.long_policies, name) }

  name   = "work"
  role   = aws_iam_role.job[each.key].name
  policy = each.value
}

module "long_policy" {
  source   = "../long-policy"
  for_each = local.long_policies

  policies  = { work = var.roles[each.key] }
  role_name = aws_iam_role.job[each.key].name
}
