# A Glue crawler over folders of plain Parquet files, and the role that it works with.
locals {
  _place     = "${var.platform.region}:${var.platform.account_id}"
  _glue      = "arn:${var.platform.partition}:glue:${local._place}"
  _log_group = "arn:${var.platform.partition}:logs:${local._place}:log-group:/aws-glue/crawlers"

  bucket      = var.platform.lake.bucket
  database    = var.platform.lake.database.name
  folders     = coalesce(var.folders, toset(var.platform.lake.plain_folders))
  keys        = "arn:${var.platform.partition}:kms:${local._place}:key/*"
  name        = "${var.platform.prefix}-parquet"
  crawler_arn = "${local._glue}:crawler/${local.name}"
  log_arns    = [local._log_group, "${local._log_group}:*"]
  object_arns = [for folder in local.folders : "${local.bucket.arn}/${folder}/*"]
  prefixes    = flatten([for folder in local.folders : [folder, "${folder}/*"]])
  table_arns = [
    "${local._glue}:catalog",
    "${local._glue}:database/${local.database}",
    "${local._glue}:table/${local.database}/${var.table_prefix}*",
  ]
}

resource "aws_glue_crawler" "this" {
  # checkov:skip=CKV_AWS_195: it writes no data; its log has the names of tables and folders alone
  name          = local.name
  database_name = local.database
  description   = "Makes tables of the Parquet files in ${join(", ", local.folders)}"
  role          = aws_iam_role.this.arn
  schedule      = var.schedule
  table_prefix  = var.table_prefix
  # Without it, folders whose columns differ would become tables of their own.
  configuration = jsonencode({
    Version       = 1.0
    CrawlerOutput = { Partitions = { AddOrUpdateBehavior = "InheritFromTable" } }
    Grouping      = { TableGroupingPolicy = "CombineCompatibleSchemas" }
  })

  dynamic "s3_target" {
    for_each = local.folders

    content {
      path = "s3://${local.bucket.name}/${s3_target.value}"
      # A job that writes has unfinished files in such folders.
      exclusions = ["**/_*", "**/_temporary/**"]
    }
  }

  recrawl_policy {
    recrawl_behavior = var.changes.recrawl
  }

  schema_change_policy {
    delete_behavior = var.changes.delete
    update_behavior = var.changes.update
  }

  depends_on = [aws_iam_role_policy.crawl]
}

resource "aws_iam_role" "this" {
  name        = local.name
  description = "What the crawler ${local.name} may do"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "glue.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  permissions_boundary = var.platform.permissions_boundary
}

resource "aws_iam_role_policy" "crawl" {
  name = "crawl"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid       = "FindTheFiles"
          Effect    = "Allow"
          Action    = ["s3:ListBucket"]
          Resource  = [local.bucket.arn]
          Condition = { StringLike = { "s3:prefix" = local.prefixes } }
        },
        {
          Sid      = "ReadTheFiles"
          Effect   = "Allow"
          Action   = ["s3:GetObject"]
          Resource = local.object_arns
        },
        {
          Sid      = "DecryptTheFiles"
          Effect   = "Allow"
          Action   = ["kms:Decrypt"]
          Resource = [local.keys]
          Condition = { StringEquals = {
            "kms:EncryptionContext:aws:s3:arn" = local.bucket.arn
            "kms:ViaService"                   = "s3.${var.platform.region}.amazonaws.com"
          } }
        },
        {
          Sid    = "KeepItsTables"
          Effect = "Allow"
          Action = [
            "glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:CreateTable", "glue:GetDatabase", "glue:GetPartitions",
            "glue:GetTable", "glue:GetTables", "glue:UpdatePartition", "glue:UpdateTable",
          ]
          Resource = local.table_arns
        },
        {
          Sid      = "WriteItsLog"
          Effect   = "Allow"
          Action   = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"]
          Resource = local.log_arns
        },
      ],
      var.changes.delete != "DELETE_FROM_DATABASE" ? [] : [{
        Sid      = "DeleteWhatIsGone"
        Effect   = "Allow"
        Action   = ["glue:BatchDeletePartition", "glue:DeleteTable"]
        Resource = local.table_arns
      }],
    )
  })
}
