# The locations of the tables in Lake Formation, with the role that it reads them with.
locals {
  # Keys are allowed by what they are used for (docs/adr/0029-whole-policies.md), so a plan shows the policies whole.
  keys = "arn:${var.platform.partition}:kms:${var.platform.region}:${var.platform.account_id}:key/*"
  use_of_keys = {
    "kms:EncryptionContext:aws:s3:arn" = var.platform.lake.bucket.arn
    "kms:ViaService"                   = "s3.${var.platform.region}.amazonaws.com"
  }

  _defaults = concat(
    data.aws_lakeformation_data_lake_settings.this.create_database_default_permissions,
    data.aws_lakeformation_data_lake_settings.this.create_table_default_permissions,
  )
  governed = length(local._defaults) == 0
  admins   = data.aws_lakeformation_data_lake_settings.this.admins
}

# The account chooses for all of its databases whether Lake Formation decides. The settings are read and never changed here
# (docs/adr/0033-read-lake-formation.md).
data "aws_lakeformation_data_lake_settings" "this" {}

resource "aws_lakeformation_resource" "tables" {
  for_each = toset(var.platform.lake.folders)

  arn      = "${var.platform.lake.bucket.arn}/${each.key}"
  role_arn = aws_iam_role.location.arn

  depends_on = [aws_iam_role_policy.location]

  lifecycle {
    precondition {
      condition     = local.governed
      error_message = "IAM alone decides on new databases and tables of ${var.platform.account_id} in ${var.platform.region}, so grants would restrict nobody; take lake_formation out of extensions.tf, or empty CreateDatabaseDefaultPermissions and CreateTableDefaultPermissions of the data lake's settings first (docs/lake-permissions.md)."
    }
    precondition {
      condition     = var.platform.deploy_role_arn == null ? true : contains(local.admins, var.platform.deploy_role_arn)
      error_message = "The administrators of the data lake are ${join(", ", local.admins)}; add ${coalesce(var.platform.deploy_role_arn, "the deploy role")}, since only an administrator grants permissions on all tables of a database."
    }
  }
}

resource "aws_iam_role" "location" {
  name        = "${var.platform.prefix}-lake-location"
  description = "What Lake Formation may read for those with grants on ${var.platform.lake.database.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lakeformation.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  permissions_boundary = var.platform.permissions_boundary
}

# The role only reads: jobs write with their own permissions.
resource "aws_iam_role_policy" "location" {
  name = "read-tables"
  role = aws_iam_role.location.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "ReadTables"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = [for folder in sort(var.platform.lake.folders) : "${var.platform.lake.bucket.arn}/${folder}/*"]
      },
      {
        Sid      = "SeeTables"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [var.platform.lake.bucket.arn]
      },
      {
        Sid       = "DecryptTables"
        Effect    = "Allow"
        Action    = ["kms:Decrypt"]
        Resource  = [local.keys]
        Condition = { StringEquals = local.use_of_keys }
      },
    ]
  })
}
