# A function of an extension: beside those of the core, with the same zips, ways out, alarms and lease.
locals {
  _keys = "arn:${var.platform.partition}:kms:${var.platform.region}:${var.platform.account_id}:key/*"

  function = "${var.platform.prefix}-${var.name}"
  file_key = "files/${try(var.settings.name, "")}.json"
  # Variables such as PENSTOCK_QUALITY_TABLES name files on S3, here quality-tables, because Lambda allows 4 KB of variables.
  _variable = "PENSTOCK_${upper(replace(try(var.settings.name, ""), "-", "_"))}"
  environment = merge(var.environment, { PENSTOCK_LEASES_TABLE = var.platform.store.leases.name }, merge([
    for settings in var.settings[*] : {
      (local._variable)           = "s3://${var.platform.jobs.artifacts_bucket.name}/${local.file_key}"
      "${local._variable}_SHA256" = sha256(settings.content) # a running function reads changed settings
    }
  ]...))

  # By way out: what lets the function in.
  ways_in = { for name in setintersection(var.ways_out, ["brokers", "endpoints"]) : name => var.platform.network.egress[name] if var.platform.network.egress[name].cidr == null }

  policy_json = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      jsondecode(var.statements_json),
      jsondecode(var.platform.statements.hold_lease),
      flatten([
        for settings in var.settings[*] : [
          {
            Sid      = "ReadItsPlan"
            Effect   = "Allow"
            Action   = ["s3:GetObject"]
            Resource = ["${var.platform.jobs.artifacts_bucket.arn}/${local.file_key}"]
          },
          {
            Sid      = "DecryptItsPlan"
            Effect   = "Allow"
            Action   = ["kms:Decrypt"]
            Resource = [local._keys]
            Condition = { StringEquals = {
              "kms:EncryptionContext:aws:s3:arn" = var.platform.jobs.artifacts_bucket.arn
              "kms:ViaService"                   = "s3.${var.platform.region}.amazonaws.com"
            } }
          },
        ]
      ]),
    )
  })
}

module "function" {
  source = "../lambda-function"

  name        = local.function
  account_id  = var.platform.account_id
  region      = var.platform.region
  description = var.description
  environment = local.environment
  log_days    = var.platform.retention.log_days
  memory_mib  = 512
  network = {
    vpc_id     = var.platform.network.vpc_id
    subnet_ids = var.platform.network.subnet_ids
    egress     = { for name in var.ways_out : name => var.platform.network.egress[name] }
  }
  package = {
    path           = "${var.platform.functions.packages}/${var.package}-lambda.zip"
    architecture   = var.platform.functions.architecture
    python_version = var.platform.functions.python_version
  }
  policy_json          = local.policy_json
  reserved_concurrency = var.platform.functions.reserved_concurrency
  timeout_seconds      = var.timeout_seconds

  permissions_boundary = var.platform.permissions_boundary
}

resource "aws_s3_object" "settings" {
  count = var.settings == null ? 0 : 1

  bucket  = var.platform.jobs.artifacts_bucket.name
  key     = local.file_key
  content = var.settings.content

  # S3 takes ten tags of an object, and the bucket has them all.
  override_provider {
    default_tags {
      tags = {}
    }
  }
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.ways_in

  security_group_id            = each.value.security_group_id
  description                  = "${each.key == "brokers" ? "Kafka" : "HTTPS"} from ${var.name}"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  referenced_security_group_id = module.function.security_group_id
}

module "alarms" {
  source = "../metric-alarms"

  prefix    = var.platform.prefix
  alarms    = var.alarms
  functions = [local.function]
  schedules = [local.function]
  topic_arn = var.platform.alarms.topic_arn
}
