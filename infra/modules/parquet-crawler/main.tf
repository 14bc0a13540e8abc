# A Glue crawler over folders of plain Parquet files, and the role that it works with.
locals {
  _partition = data.aws_partition.this.partition
  _place     = "${var.region}:${var.account_id}"
  _glue      = "arn:${local._partition}:glue:${local._place}"
  _log_group = "arn:${local._partition}:logs:${local._place}:log-group:/aws-glue/crawlers"

  crawler_arn = "${local._glue}:crawler/${var.name}"
  log_arns    = [local._log_group, "${local._log_group}:*"]
  object_arns = [for folder in var.folders : "${var.bucket.arn}/${folder}/*"]
  prefixes    = flatten([for folder in var.folders : [folder, "${folder}/*"]])
  table_arns = [
    "${local._glue}:catalog",
    "${local._glue}:database/${var.database}",
    "${local._glue}:table/${var.database}/${var.table_prefix}*",
  ]
}

data "aws_partition" "this" {}

resource "aws_glue_crawler" "this" {
  # checkov:skip=CKV_AWS_195: it writes no data; its log has the names of tables and folders alone
  name          = var.name
  database_name = var.database
  description   = "Makes tables of the Parquet files in ${join(", ", var.folders)}"
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
    for_each = var.folders

    content {
      path = "s3://${var.bucket.name}/${s3_target.value}"
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
  name        = var.name
  description = "What the crawler ${var.name} may do"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "glue.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  permissions_boundary = var.permissions_boundary
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
          Resource  = [var.bucket.arn]
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
          Resource = [var.bucket.kms_key_arn]
          Condition = { StringEquals = {
            "kms:EncryptionContext:aws:s3:arn" = var.bucket.arn
            "kms:ViaService"                   = "s3.${var.region}.amazonaws.com"
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
