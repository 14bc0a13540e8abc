# Derived from the jobs with sales (docs/sales.md): a run for each command, their parameters and their rights.
locals {
  sales_commands = jsondecode(file("${path.module}/../modules/sales.json"))
  sales = {
    for name, job in var.spark == null ? {} : var.jobs : name => merge(job.sales, {
      # Files, results and checkpoints.
      folder    = "sales/${name}"
      path      = "/${local.prefix}/${name}"
      reads     = coalesce(job.reads, var.contract.topics)
      schedules = job.schedules
      trigger   = job.trigger
      workers   = try(job.workers["sales"], null)
    }) if job.sales != null
  }

  # By role: what the commands read from Parameter Store; they ignore what they have no flag for.
  sales_parameters = {
    for name, job in local.sales : name => merge(
      {
        bootstrap_servers = join(",", [for broker in values(var.contract.brokers) : "${broker.host}:${broker.port}"])
        bucket            = "${local._lake_bucket}/${job.folder}"
        group_prefix      = var.contract.group_prefix
        secret_arn        = module.broker_access.secret_arn
        security          = "scram"
        topics            = join(",", job.reads)
      },
      { for key, table in { table = job.table, output_table = job.output_table } : key => "${module.lake.database.name}.${table}" if table != null },
      job.parameters,
    )
  }

  _sales_runs = merge([
    for name, job in local.sales : {
      for command in job.commands : "${name}-${command}" => {
        arguments = concat(
          [command, "--parameters", job.path],
          contains(local.sales_commands.streams, command) ? ["--checkpoint", "${local._lake_bucket}/${job.folder}/checkpoints/${command}", "--trigger", job.trigger] : [],
        )
        program   = "sales"
        role      = name
        schedule  = lookup(job.schedules, command, null)
        streaming = contains(local.sales_commands.streams, command) && job.trigger != "available-now"
        workers   = job.workers
      }
    }
  ]...)

  _catalog_arns = ["${local._glue}:catalog", "${local._glue}:database/${module.lake.database.name}"]
  _tables_arn   = "${local._glue}:table/${module.lake.database.name}"
  sales_policies = {
    for name, job in local.sales : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        local._read_password,
        local._use_lake,
        [{
          Sid    = "KeepItsFiles"
          Effect = "Allow"
          Action = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
          # Spark also looks up the folder above its checkpoint's.
          Resource = concat(["${local._lake_arn}/sales", "${local._lake_arn}/${job.folder}", "${local._lake_arn}/${job.folder}/*"], job.output_table == null ? [] : ["${local._lake_arn}/tables/${job.output_table}/*"])
        }],
        [for table in job.table[*] : {
          Sid      = "ReadRowsOfTheLake"
          Effect   = "Allow"
          Action   = ["s3:GetObject"]
          Resource = ["${local._lake_arn}/tables/${table}/*"]
        }],
        [for table in job.table[*] : {
          Sid      = "SeeTheTable"
          Effect   = "Allow"
          Action   = ["glue:GetDatabase", "glue:GetTable"]
          Resource = concat(local._catalog_arns, ["${local._tables_arn}/${table}"])
        }],
        [for table in job.output_table[*] : {
          Sid      = "KeepTheTableOfTotals"
          Effect   = "Allow"
          Action   = ["glue:CreateTable", "glue:GetDatabase", "glue:GetTable", "glue:UpdateTable"]
          Resource = concat(local._catalog_arns, ["${local._tables_arn}/${table}"])
        }],
      )
    })
  }
}
