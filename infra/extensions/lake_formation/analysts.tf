# Roles that ask Athena and have no right on the tables' objects, each with a work group: in a common one an analyst
# could read the results of another, whose grants are wider.
locals {
  _athena = "arn:${var.platform.partition}:athena:${var.platform.region}:${var.platform.account_id}:workgroup"
  _glue   = "arn:${var.platform.partition}:glue:${var.platform.region}:${var.platform.account_id}"
  results = { for name in keys(var.analysts) : name => "athena-results/analysts/${name}" }
  groups  = { for name in keys(var.analysts) : name => "${var.platform.prefix}-analyst-${name}" }
  analyst_policies = {
    for name, results in local.results : name => jsonencode({
      Version = "2012-10-17"
      Statement = [
        {
          Sid    = "AskAthena"
          Effect = "Allow"
          Action = [
            "athena:BatchGetQueryExecution", "athena:GetQueryExecution", "athena:GetQueryResults", "athena:GetWorkGroup",
            "athena:ListQueryExecutions", "athena:StartQueryExecution", "athena:StopQueryExecution",
          ]
          Resource = ["${local._athena}/${local.groups[name]}"]
        },
        {
          # Lake Formation decides which tables and columns there are.
          Sid    = "SeeTheCatalog"
          Effect = "Allow"
          Action = ["glue:GetDatabase", "glue:GetDatabases", "glue:GetPartition", "glue:GetPartitions", "glue:GetTable", "glue:GetTables"]
          Resource = [
            "${local._glue}:catalog", "${local._glue}:database/${var.platform.lake.database.name}", "${local._glue}:table/${var.platform.lake.database.name}/*",
          ]
        },
        {
          Sid      = "ReadByGrants"
          Effect   = "Allow"
          Action   = ["lakeformation:GetDataAccess"]
          Resource = ["*"]
        },
        {
          Sid      = "FindResults"
          Effect   = "Allow"
          Action   = ["s3:GetBucketLocation"]
          Resource = [var.platform.lake.bucket.arn]
        },
        {
          Sid      = "KeepResults"
          Effect   = "Allow"
          Action   = ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
          Resource = ["${var.platform.lake.bucket.arn}/${results}/*"]
        },
        {
          Sid       = "EncryptResults"
          Effect    = "Allow"
          Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
          Resource  = [local.keys]
          Condition = { StringEquals = local.use_of_keys }
        },
      ]
    })
  }
}

resource "aws_athena_workgroup" "analyst" {
  for_each = var.analysts

  name          = local.groups[each.key]
  description   = "Queries of the analyst ${each.key}, each up to a limit"
  force_destroy = true # its history of queries; their results stay in the bucket

  configuration {
    bytes_scanned_cutoff_per_query     = var.platform.lake.query_limit_bytes
    enforce_workgroup_configuration    = true
    publish_cloudwatch_metrics_enabled = true

    engine_version {
      selected_engine_version = "Athena engine version 3"
    }

    result_configuration {
      expected_bucket_owner = var.platform.account_id
      output_location       = "s3://${var.platform.lake.bucket.name}/${local.results[each.key]}/"

      encryption_configuration {
        encryption_option = "SSE_KMS"
        kms_key_arn       = var.platform.lake.key_arn
      }
    }
  }
}

resource "aws_iam_role" "analyst" {
  for_each = var.analysts

  name        = local.groups[each.key]
  description = "Asks Athena for what it was granted in ${var.platform.lake.database.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = sort(each.value.principals) }
      Action    = "sts:AssumeRole"
    }]
  })

  permissions_boundary = var.platform.permissions_boundary
}

resource "aws_iam_role_policy" "analyst" {
  for_each = var.analysts

  name   = "query-granted-tables"
  role   = aws_iam_role.analyst[each.key].name
  policy = local.analyst_policies[each.key]
}
