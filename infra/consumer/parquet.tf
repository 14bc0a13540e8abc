# Plain Parquet files beside the lake's tables, for readers that do not support Iceberg.
locals {
  # By job: the folders of its files, each with a Glue table TABLE_plain. Jobs with a plan write none.
  _plain = {
    for name, job in local.jobs : name => { for table in job.lake : table => "plain/${table}" } if contains(var.lake.parquet.jobs, name)
  }

  # By job, for the job and its replay.
  _plain_flags = {
    for name in keys(local._plain) : name => [
      "--parquet-path", "${local._lake_bucket}/plain/${local.jobs[name].table}",
      "--parquet-table", "${module.lake.database.name}.${local.jobs[name].table}_plain",
    ]
  }
  # Spark also looks up the folders above.
  _plain_objects = {
    for name, folders in local._plain : name => flatten([
      ["${local._lake_arn}/plain"], [for folder in values(folders) : ["${local._lake_arn}/${folder}", "${local._lake_arn}/${folder}/*"]],
    ])
  }
  _keep_plain = {
    for name, folders in local._plain : name => {
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
