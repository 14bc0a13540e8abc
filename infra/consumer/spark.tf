# The Spark jobs: what they are made of, what they are told, and where they run.
locals {
  # What the consumer function writes, and the jobs without routes.
  table_of_all = "readings"

  # With routes each schema has a table of its own; what no route names is an error.
  _routes = try(var.spark.routes, {})
  _routed = length(local._routes) > 0
  tables  = local._routed ? sort(values(local._routes)) : [local.table_of_all]

  # Flags that need no right, and that nothing else says.
  free_flags = {
    consume       = ["dynamodb-rows-per-second", "group-prefix", "max-offsets-per-trigger", "on-lost-offsets", "starting", "topic-pattern", "topics"]
    maintain_lake = ["file-mib", "keep-hours", "orphan-hours"]
    replay        = ["dynamodb-rows-per-second"]
  }
  free_words = {
    for job in keys(local.free_flags) : job => flatten([
      for flag, value in lookup(try(var.spark.flags, {}), job, {}) : ["--${flag}", value]
    ])
  }

  checkpoint = "s3://${module.lake.bucket.name}/checkpoints/${try(var.spark.checkpoint, "consume")}"

  # Whatever writes records writes them there.
  _table = local._routed ? "{table}" : local.table_of_all
  sinks = concat(
    [
      "--lake-table", "${module.lake.database.name}.${local._table}",
      "--dynamodb-table", "${local.prefix}-${local._table}",
      "--errors-table", module.reading_store.errors.name,
      "--parked-bucket", module.lake.parked_bucket.name,
    ],
    local._routed ? ["--route", join(",", [for schema, table in local._routes : "${schema}=${table}"])] : [],
  )
}

module "spark" {
  source   = "../modules/spark-application"
  for_each = var.spark == null ? {} : { spark = var.spark }

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  application = each.value.application
  artifacts = {
    # As penstock.spark.session_settings() has them: two belong to a JVM that stands before the job begins.
    configuration = jsondecode(file("${path.module}/session.json"))
    files         = { "contract.json" = jsonencode({ contract = var.contract }) }
    jars = {
      for jar in fileset(each.value.jars, "*.jar") : trimsuffix(jar, ".jar") => "${each.value.jars}/${jar}"
    }
    jobs    = { for job in keys(local.free_flags) : job => "${each.value.jobs}/${job}.py" }
    pyfiles = "${var.functions.packages}/penstock-pyfiles.zip"
    runs = merge(
      {
        consume = {
          arguments = concat(local.sinks, [
            "--event-time", each.value.event_time,
            "--contract", "contract.json",
            "--secret-arn", module.broker_access.secret_arn,
            "--checkpoint", local.checkpoint,
            "--trigger", each.value.trigger,
          ], local.free_words.consume)
          job       = "consume"
          streaming = each.value.trigger != "available-now"
        }
        replay = {
          arguments = concat(local.sinks, [
            "--event-time", each.value.event_time,
            "--contract", "contract.json",
            "--consume-checkpoint", local.checkpoint,
            "--keep-settled-days", tostring(var.retention.settled_days),
          ], local.free_words.replay)
          job = "replay"
        }
      },
      { for table in local.tables : "maintain-${table}" => {
        arguments = concat(["--lake-table", "${module.lake.database.name}.${table}"], local.free_words.maintain_lake)
        job       = "maintain_lake"
      } },
    )
  }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = local.egress
  }
  policy_json = local.spark_policy
  retention   = var.retention
}
