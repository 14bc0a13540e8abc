# An EMR cluster on EC2 in a private subnet: one primary node, core nodes, Spark, logs on S3, encrypted disks.
locals {
  partition = data.aws_partition.this.partition

  name        = "${var.prefix}-emr"
  logs_bucket = "${var.prefix}-emr-logs-${var.account_id}-${var.region}"
  # The service role may use what has this tag, and EMR gives an instance the tags of its cluster.
  own_tag = { emr-cluster = local.name }

  # A release fits if the jobs' jars run on its Spark, Scala and Java.
  releases = jsondecode(file("${path.module}/../releases.json"))
  fitting_releases = [
    for label, release in local.releases.emr : label
    if startswith("${release.spark}.", "${local.releases.jars.spark}.") && startswith(release.scala, "${local.releases.jars.scala}.") && contains(release.java, local.releases.jars.java)
  ]

  # The driver runs as hadoop on the primary node, where bootstrap.sh unpacks the archives. Executors run as yarn, which
  # cannot read that folder: YARN unpacks the archives for them, by these names, below the folder in which each starts.
  _driver_environment = { AWS_DEFAULT_REGION = var.region, PYTHONPATH = "/home/hadoop/penstock/packages" }
  _archive_names      = { for url in var.artifacts.archives : url => trimsuffix(basename(url), ".zip") }
  # What the bootstrap action installs and how: nodes do it once, so other content needs another cluster.
  installed = substr(sha256("${filesha256("${path.module}/bootstrap.sh")}${var.artifacts.archives_hash}"), 0, 8)
  _executor_settings = merge(
    { "spark.executorEnv.AWS_DEFAULT_REGION" = var.region },
    length(var.artifacts.archives) == 0 ? {} : {
      "spark.archives"               = join(",", [for url, name in local._archive_names : "${url}#${name}"])
      "spark.executorEnv.PYTHONPATH" = join(":", [for name in values(local._archive_names) : "./${name}"])
    },
  )
  # A job that streams for months would fill the disks with its event log: Spark rolls it, and its history server deletes
  # old files if it is told how many to keep.
  _event_log = { "spark.eventLog.rolling.enabled" = "true", "spark.history.fs.eventLog.rolling.maxFilesToRetain" = "10" }
  # The most tasks of a batch for which jobs bound them. By default it is the cores of the executors that run, for which
  # Spark would ask for no others. The usual types have four cores for each xlarge, and an unused slot costs little.
  # Steps have it, since other configurations of a cluster replace it.
  _slots_of_a_node = endswith(var.cluster.core_type, ".large") ? 2 : 4 * try(tonumber(regex("[.]([0-9]+)xlarge$", var.cluster.core_type)[0]), 1)
  _settings        = { "spark.default.parallelism" = tostring(var.cluster.core_nodes * local._slots_of_a_node) }

  # What spark-submit gets. EMR takes 10,240 characters of a step with its jar and the word before these; flags of
  # `penstock submit` come to them.
  most_characters = 10240
  words = {
    for name, run in var.runs : name => concat(
      ["--deploy-mode", "client"],
      flatten([for flag, places in { "--jars" = var.artifacts.jars, "--py-files" = [var.artifacts.pyfiles] } : [flag, join(",", places)] if length(places) > 0]),
      flatten([for setting, value in local._settings : ["--conf", "${setting}=${value}"]]),
      [run.program],
      run.arguments,
    )
  }
  long_runs = [for name, words in local.words : name if length("command-runner.jarspark-submit${join("", words)}") > local.most_characters]

  _has_iceberg = anytrue([for jar in var.artifacts.jars : startswith(jar, "/usr/share/aws/iceberg/")])
  configurations = concat(
    [
      {
        Classification = "spark-env"
        Properties     = {}
        # In client mode the driver runs on the primary node with what spark-env.sh exports.
        Configurations = [{ Classification = "export", Properties = local._driver_environment }]
      },
      {
        Classification = "spark-defaults"
        Properties     = merge(local._event_log, local._executor_settings, var.artifacts.configuration)
      },
    ],
    # EMR Release Guide, "Use an Iceberg cluster with Spark": with it, a cluster has Iceberg installed.
    local._has_iceberg ? [{ Classification = "iceberg-defaults", Properties = { "iceberg.enabled" = "true" } }] : [],
  )
}

data "aws_partition" "this" {}

resource "aws_emr_cluster" "this" {
  name                              = local.name
  release_label                     = var.cluster.release_label
  applications                      = ["Spark"]
  service_role                      = aws_iam_role.service.arn
  configurations_json               = jsonencode(local.configurations)
  keep_job_flow_alive_when_no_steps = true
  log_uri                           = "s3://${module.logs.name}/"
  security_configuration            = aws_emr_security_configuration.this.name
  step_concurrency_level            = var.cluster.concurrent_steps
  termination_protection            = var.cluster.termination_protection

  auto_termination_policy {
    idle_timeout = var.cluster.idle_minutes * 60
  }

  bootstrap_action {
    name = "packages"
    path = "s3://${aws_s3_object.bootstrap.bucket}/${aws_s3_object.bootstrap.key}"
    args = concat([local.installed], var.artifacts.archives)
  }

  core_instance_group {
    instance_count = var.cluster.core_nodes
    instance_type  = var.cluster.core_type

    ebs_config {
      size                 = var.cluster.volume_gib
      type                 = "gp3"
      volumes_per_instance = 1
    }
  }

  ec2_attributes {
    emr_managed_master_security_group = aws_security_group.node.id
    emr_managed_slave_security_group  = aws_security_group.node.id
    instance_profile                  = aws_iam_instance_profile.this.arn
    service_access_security_group     = aws_security_group.access.id
    subnet_id                         = var.network.subnet_id
  }

  master_instance_group {
    instance_type = var.cluster.primary_type

    ebs_config {
      size                 = var.cluster.volume_gib
      type                 = "gp3"
      volumes_per_instance = 1
    }
  }

  tags = local.own_tag

  depends_on = [
    aws_iam_role_policy.runtime,
    aws_iam_role_policy.service,
    aws_iam_role_policy.work,
    aws_vpc_endpoint.service,
    aws_vpc_security_group_egress_rule.node,
    aws_vpc_security_group_ingress_rule.access,
    aws_vpc_security_group_ingress_rule.node,
    module.long_policy,
  ]

  lifecycle {
    # EMR lists the steps of a cluster, which are submitted later.
    ignore_changes = [step]
  }
}

resource "aws_emr_security_configuration" "this" {
  # checkov:skip=CKV_AWS_171: objects on S3 are encrypted with the keys of their buckets, which a setting here would replace
  # checkov:skip=CKV_AWS_351: between the nodes, which one security group closes to all others; certificates would be the caller's to renew
  name = local.name
  configuration = jsonencode({
    EncryptionConfiguration = {
      EnableInTransitEncryption = false
      EnableAtRestEncryption    = true
      # Objects on S3 are encrypted as their buckets say.
      AtRestEncryptionConfiguration = {
        LocalDiskEncryptionConfiguration = {
          EnableEbsEncryption       = true
          EncryptionKeyProviderType = "AwsKms"
          AwsKmsKey                 = module.key.arn
        }
      }
    }
    InstanceMetadataServiceConfiguration = {
      MinimumInstanceMetadataServiceVersion = 2
      HttpPutResponseHopLimit               = 1
    }
  })
}

resource "aws_s3_object" "bootstrap" {
  bucket      = var.artifacts.bucket
  key         = "bootstrap/${local.name}.sh"
  source      = "${path.module}/bootstrap.sh"
  source_hash = filebase64sha256("${path.module}/bootstrap.sh")

  # S3 takes ten tags of an object, and the bucket has them all.
  override_provider {
    default_tags {
      tags = {}
    }
  }
}

module "key" {
  source = "../customer-key"

  account_id    = var.account_id
  alias         = local.name
  deletion_days = var.retention.key_deletion_days
  description   = "Disks and logs of ${local.name}"
}

module "logs" {
  source = "../private-bucket"

  name          = local.logs_bucket
  expiry        = { logs = { days = var.retention.log_days } }
  force_destroy = var.retention.force_destroy
  kms_key_arn   = module.key.arn
}
