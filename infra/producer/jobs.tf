# The sales jobs in this VPC (docs/sales.md), which log in by IAM: a run for each command, its parameters and its permissions.
locals {
  sales_commands   = jsondecode(file("${path.module}/../modules/sales.json"))
  session_settings = jsondecode(file("${path.module}/../modules/session.json")) # from penstock.spark.session.session_settings()

  # The bucket of the artifacts by its name in infra/modules/spark-application, because that module needs these policies first.
  _job_bucket     = "${var.prefix}-artifacts-${var.account_id}-${var.region}"
  _job_bucket_arn = "arn:${local._partition}:s3:::${local._job_bucket}"
  _jobs = {
    for name, job in var.jobs : name => merge(job, {
      arn  = "${local._job_bucket_arn}/sales/${name}"
      path = "/${var.prefix}/${name}"
      url  = "s3://${local._job_bucket}/sales/${name}"
    })
  }

  # A job ignores parameters for which it has no flag.
  job_parameters = {
    for name, job in local._jobs : name => merge(
      {
        bootstrap_servers = module.broker_cluster.bootstrap_servers.iam
        bucket            = job.url
        group_prefix      = "${name}-"
        region            = var.region
        security          = "iam"
      },
      length(job.reads) == 0 ? {} : { topics = join(",", sort(job.reads)) },
      job.parameters,
    )
  }

  job_runs = merge([
    for name, job in local._jobs : {
      for command in job.commands : "${name}-${command}" => {
        arguments = concat(
          [command, "--parameters", job.path],
          contains(local.sales_commands.streams, command) ? ["--checkpoint", "${job.url}/checkpoints/${command}", "--trigger", job.trigger] : [],
        )
        program   = "sales"
        role      = name
        streaming = contains(local.sales_commands.streams, command) && job.trigger != "available-now"
        workers   = job.workers
      }
    }
  ]...)

  job_policies = {
    for name, job in local._jobs : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(local._kafka_statements[name], [
        {
          Sid    = "KeepItsFiles"
          Effect = "Allow"
          Action = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
          # Spark also looks up the folder above.
          Resource = ["${local._job_bucket_arn}/sales", job.arn, "${job.arn}/*"]
        },
        {
          Sid      = "EncryptItsFiles"
          Effect   = "Allow"
          Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
          Resource = ["arn:${local._partition}:kms:${var.region}:${var.account_id}:key/*"]
          Condition = { StringEquals = {
            "kms:EncryptionContext:aws:s3:arn" = local._job_bucket_arn
            "kms:ViaService"                   = "s3.${var.region}.amazonaws.com"
          } }
        },
      ])
    })
  }

  # By URL, since producers may share a registry, then by way: AWS rejects a second rule that is equal. The first names the rule.
  _job_registries    = { for producer in local.producers : split("?", producer.registry.url)[0] => producer.registry... if producer.registry != null }
  _job_registry_ways = { for url, same in local._job_registries : jsonencode([same[0].cidr, same[0].port, same[0].security_group_id]) => url... }
  job_egress = merge(
    { brokers = { port = 9098, security_group_id = module.broker_cluster.security_group_id } },
    module.network.egress,
    { for urls in values(local._job_registry_ways) : urls[0] => local._job_registries[urls[0]][0] },
  )
}

module "spark" {
  source   = "../modules/spark-application"
  for_each = length(var.jobs) == 0 ? {} : { spark = var.spark }

  prefix      = var.prefix
  account_id  = var.account_id
  region      = var.region
  application = each.value.application
  artifacts = {
    archives      = { packages = "${var.functions.packages}/penstock-packages.zip" }
    configuration = local.session_settings
    image_jars    = each.value.image_jars
    jars          = { for jar in fileset(each.value.jars, "*.jar") : trimsuffix(jar, ".jar") => "${each.value.jars}/${jar}" }
    programs      = { sales = "${each.value.jobs}/sales/main.py" }
    pyfiles       = "${var.functions.packages}/penstock-pyfiles.zip"
  }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = local.job_egress
  }
  parameters = local.job_parameters
  retention  = var.retention
  roles      = local.job_policies
  runs       = local.job_runs

  permissions_boundary = var.permissions_boundary
}

module "emr" {
  source   = "../modules/emr-cluster"
  for_each = length(var.jobs) == 0 || var.spark.cluster == null ? {} : { emr = var.spark.cluster }

  prefix     = var.prefix
  account_id = var.account_id
  region     = var.region
  artifacts = {
    archives      = values(module.spark["spark"].places.archives)
    archives_hash = module.spark["spark"].places.archives_hash
    bucket        = module.spark["spark"].artifacts_bucket.name
    configuration = local.session_settings
    jars          = module.spark["spark"].places.jars
    pyfiles       = module.spark["spark"].places.pyfiles
  }
  cluster = each.value
  network = {
    # An existing VPC may have one.
    endpoint  = !contains(keys(try(var.network.existing.interface_endpoints, {})), "emr-service-cell01")
    vpc_id    = module.network.vpc_id
    subnet_id = values(module.network.workload_subnet_ids)[0]
    egress    = local.job_egress
  }
  parameters_path = "/${var.prefix}"
  policies        = { for name in each.value.jobs : name => local.job_policies[name] }
  retention       = var.retention
  runs = {
    for name, run in local.job_runs : name => {
      arguments = run.arguments
      program   = module.spark["spark"].places.programs[run.program]
    } if contains(each.value.jobs, run.role)
  }
  topic_arn = module.alarms.topic_arn

  permissions_boundary = var.permissions_boundary
}
