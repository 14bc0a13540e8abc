# The module of Lake Formation's permissions, whose grants the provider reads in another form than it writes them.
variable "rows" {
  type = string
}

resource "aws_s3_bucket" "lake" {
  bucket = "applied-lake"
}

resource "aws_iam_role" "work" {
  name = "applied-work"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "emr-serverless.amazonaws.com" } }]
  })
}

resource "aws_glue_catalog_table" "orders" {
  database_name = aws_glue_catalog_database.this.name
  name          = "orders"

  storage_descriptor {
    location = "s3://${aws_s3_bucket.lake.bucket}/tables/orders"

    dynamic "columns" {
      for_each = ["amount", "country", "email"]

      content {
        name = columns.value
        type = "string"
      }
    }
  }
}

module "lake_formation" {
  source = "../extensions/lake_formation"

  platform = {
    account_id = "930000000001"
    partition  = "aws"
    prefix     = "applied"
    region     = "eu-central-1"
    lake = {
      bucket            = { arn = aws_s3_bucket.lake.arn, name = aws_s3_bucket.lake.bucket }
      database          = { name = aws_glue_catalog_table.orders.database_name }
      folders           = ["tables"]
      key_arn           = "arn:aws:kms:eu-central-1:930000000001:key/1234abcd-0000-4000-8000-000000000000"
      query_limit_bytes = 107374182400
      principals = {
        work = { arn = aws_iam_role.work.arn, database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
      }
    }
    retention = { force_destroy = false }
  }
  analysts = {
    most = { principals = ["930000000001"], tables = { orders = { excluded_columns = ["email"], rows = null } } }
    part = { principals = ["930000000001"], tables = { orders = { included_columns = ["amount", "country"], rows = null } } }
    rows = { principals = ["930000000001"], tables = { orders = { excluded_columns = ["email"], rows = var.rows } } }
  }
}
