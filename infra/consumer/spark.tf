# The Spark jobs: what they are made of, what they are told, and where they run.
locals {
  lake_table = "readings"

  checkpoints = "s3://${module.lake.bucket.name}/checkpoints"
  lake_words  = ["--lake-table", "${module.lake.database.name}.${local.lake_table}"]

  # Whatever writes records writes them there.
  sinks = concat(local.lake_words, [
    "--dynamodb-table", module.reading_store.readings.name,
    "--errors-table", module.reading_store.errors.name,
    "--parked-bucket", module.lake.parked_bucket.name,
  ])
}

module "spark" {
  source   = "../modules/spark-application"
  for_each = var.spark == null ? {} : { spark = var.spark }

  prefix      = local.prefix
  account_id  = var.account_id
  region      = var.contract.region
  application = each.value.application
  artifacts = {
    arguments = {
      consume = concat([
        "--contract", "contract.json",
        "--secret-arn", module.broker_access.secret_arn,
        "--checkpoint", "${local.checkpoints}/consume",
        "--trigger", each.value.trigger,
      ], local.sinks, each.value.arguments)
      maintain_lake = local.lake_words
      replay = concat([
        "--contract", "contract.json",
        "--checkpoint", "${local.checkpoints}/replay",
        "--consume-checkpoint", "${local.checkpoints}/consume",
        "--keep-settled-days", tostring(var.retention.settled_days),
      ], local.sinks)
    }
    # As penstock.spark.session_settings() has them: two belong to a JVM that stands before the job begins.
    configuration = jsondecode(file("${path.module}/session.json"))
    files         = { "contract.json" = jsonencode({ contract = var.contract }) }
    jars = {
      for jar in fileset(each.value.jars, "*.jar") : trimsuffix(jar, ".jar") => "${each.value.jars}/${jar}"
    }
    jobs      = { for job in ["consume", "maintain_lake", "replay"] : job => "${each.value.jobs}/${job}.py" }
    pyfiles   = "${var.functions.packages}/penstock-pyfiles.zip"
    streaming = each.value.trigger == "available-now" ? [] : ["consume"]
  }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.subnet_ids)
    egress     = local.egress
  }
  policy_json = local.spark_policy
  retention   = var.retention
}
