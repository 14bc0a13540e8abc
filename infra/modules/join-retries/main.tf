# The retries of joins (docs/staging.md): for each job that joins rows, a function that a schedule invokes.
locals {
  policies = {
    for name, join in var.joins : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        [
          {
            # From the bucket of the jobs' artifacts, since Lambda takes 4 KB of variables.
            Sid      = "ReadItsPlan"
            Effect   = "Allow"
            Action   = ["s3:GetObject"]
            Resource = ["arn:${var.platform.partition}:s3:::${trimprefix(var.files[join.file], "s3://")}"]
          },
          {
            Sid      = "DecryptItsPlan"
            Effect   = "Allow"
            Action   = ["kms:Decrypt"]
            Resource = ["arn:${var.platform.partition}:kms:${var.platform.region}:${var.platform.account_id}:key/*"]
            Condition = { StringEquals = {
              "kms:EncryptionContext:aws:s3:arn" = var.artifacts_bucket.arn
              "kms:ViaService"                   = "s3.${var.platform.region}.amazonaws.com"
            } }
          },
        ],
        jsondecode(join.statements),
        slice(jsondecode(var.platform.statements.hold_lease), 0, 1),
      )
    })
  }
}

module "function" {
  source   = "../lambda-function"
  for_each = var.joins

  name        = "${var.platform.prefix}-retry-${each.key}"
  account_id  = var.platform.account_id
  region      = var.platform.region
  description = "Joins rows again whose dependencies were missing, and parks what waited too long"
  environment = merge(
    {
      PENSTOCK_ERRORS_TABLE  = each.value.errors
      PENSTOCK_LEASES_TABLE  = var.platform.store.leases.name
      PENSTOCK_PARKED_BUCKET = var.platform.lake.parked_bucket.name
      PENSTOCK_PLAN          = var.files[each.value.file]
      PENSTOCK_PLAN_SHA256   = filesha256(each.value.plan) # a running function reads a changed plan
      PENSTOCK_SERVICE       = each.key
      PENSTOCK_STAGED_TABLES = "${var.platform.prefix}-{table}"
      PENSTOCK_WAITING_TABLE = each.value.waiting
    },
    each.value.retry_seconds == null ? {} : { PENSTOCK_RETRY_SECONDS = tostring(each.value.retry_seconds) },
  )
  log_days   = var.platform.retention.log_days
  memory_mib = 512
  network = {
    vpc_id     = var.platform.network.vpc_id
    subnet_ids = var.platform.network.subnet_ids
    egress     = { for name, way in var.platform.network.egress : name => way if contains(["dynamodb", "s3"], name) }
  }
  package = {
    path           = "${var.platform.functions.packages}/retry-lambda.zip"
    architecture   = var.platform.functions.architecture
    python_version = var.platform.functions.python_version
  }
  policy_json          = local.policies[each.key]
  reserved_concurrency = var.platform.functions.reserved_concurrency
  timeout_seconds      = 300

  permissions_boundary = var.platform.permissions_boundary
}

module "schedule" {
  source   = "../function-schedule"
  for_each = var.joins

  name       = "${var.platform.prefix}-retry-${each.key}"
  account_id = var.platform.account_id
  partition  = var.platform.partition
  region     = var.platform.region
  expression = each.value.schedule
  function   = { arn = module.function[each.key].arn, name = module.function[each.key].name }

  permissions_boundary = var.platform.permissions_boundary
}
