# Plain Parquet files beside the lake's tables, for readers that do not support Iceberg.
locals {
  # By job: the folders of its files, each with a Glue table TABLE_plain. Jobs with a plan write none.
  plain = {
    for name, job in local.jobs : name => { for table in job.lake : table => "plain/${table}" } if contains(var.lake.parquet.jobs, name)
  }

  crawled_bucket = { arn = module.lake.bucket.arn, kms_key_arn = local._keys, name = module.lake.bucket.name }

  # By job, for the job and its replay.
  _plain_flags = {
    for name in keys(local.plain) : name => [
      "--parquet-path", "${local._lake_bucket}/plain/${local.jobs[name].table}",
      "--parquet-table", "${module.lake.database.name}.${local.jobs[name].table}_plain",
    ]
  }
  # Spark also looks up the folders above.
  _plain_objects = {
    for name, folders in local.plain : name => flatten([
      ["${local._lake_arn}/plain"], [for folder in values(folders) : ["${local._lake_arn}/${folder}", "${local._lake_arn}/${folder}/*"]],
    ])
  }
  _keep_plain = {
    for name, folders in local.plain : name => {
      Sid    = "KeepThePlainTables"
      Effect = "Allow"
      Action = ["glue:BatchCreatePartition", "glue:CreateTable", "glue:GetPartitions", "glue:GetTable", "glue:UpdateTable"]
      Resource = concat(
        ["${local._glue}:catalog", "${local._glue}:database/${module.lake.database.name}"],
        [for table in keys(folders) : "${local._glue}:table/${module.lake.database.name}/${table}_plain"],
      )
    }
  }
}

module "parquet_crawler" {
  source   = "../modules/parquet-crawler"
  for_each = { for crawler in [var.lake.parquet.crawler] : "parquet" => crawler if crawler != null }

  account_id   = var.account_id
  bucket       = local.crawled_bucket
  changes      = each.value.changes
  database     = module.lake.database.name
  folders      = coalescelist(each.value.folders, flatten([for folders in values(local.plain) : values(folders)]))
  name         = "${local.prefix}-parquet"
  region       = var.contract.region
  schedule     = each.value.schedule
  table_prefix = each.value.table_prefix

  permissions_boundary = var.permissions_boundary
}
