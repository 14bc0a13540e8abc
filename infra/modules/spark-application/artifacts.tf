# The artifacts of the jobs, in one bucket; the next apply uploads a file that has changed.
locals {
  _pyfiles_key = "pyfiles/penstock.zip"

  _archive_keys = { for name in keys(var.artifacts.archives) : name => "archives/${name}.zip" }
  _program_keys = { for name in keys(var.artifacts.programs) : name => "jobs/${name}.py" }
  _jar_keys     = { for name in keys(var.artifacts.jars) : name => "jars/${name}.jar" }
  file_keys     = { for name in keys(var.artifacts.files) : name => "files/${name}" }

  uploads = merge(
    { (local._pyfiles_key) = var.artifacts.pyfiles },
    { for name, key in local._archive_keys : key => var.artifacts.archives[name] },
    { for name, key in local._program_keys : key => var.artifacts.programs[name] },
    { for name, key in local._jar_keys : key => var.artifacts.jars[name] },
  )

  _start = "s3://${local.bucket_name}/"

  # A driver can read S3 wherever it runs; the place of `--files` differs.
  urls = {
    archives      = { for name, key in local._archive_keys : name => "${local._start}${key}" }
    archives_hash = sha256(join("", [for path in values(var.artifacts.archives) : filesha256(path)]))
    files         = { for name, key in local.file_keys : name => "${local._start}${key}" }
    jars          = concat([for key in values(local._jar_keys) : "${local._start}${key}"], var.artifacts.image_jars)
    programs      = { for name, key in local._program_keys : name => "${local._start}${key}" }
    pyfiles       = "${local._start}${local._pyfiles_key}"
  }

  _given = {
    "--archives" = [for name, key in local._archive_keys : "${local._start}${key}#${name}"]
    "--jars"     = local.urls.jars
    "--py-files" = ["${local._start}${local._pyfiles_key}"]
  }
  _submission = join(" ", [for flag, places in local._given : "${flag} ${join(",", places)}" if length(places) > 0])

  # Spark unpacks each archive below the folder in which a worker starts.
  _python_path = join(":", [for name in keys(var.artifacts.archives) : "./${name}"])
  _configuration = merge(var.artifacts.configuration, local._python_path == "" ? {} : {
    "spark.emr-serverless.driverEnv.PYTHONPATH" = local._python_path
    "spark.executorEnv.PYTHONPATH"              = local._python_path
  })

  application = {
    arn           = aws_emrserverless_application.this.arn
    bucket        = { arn = module.bucket.arn, name = local.bucket_name }
    configuration = local._configuration
    files         = local.urls.files
    id            = aws_emrserverless_application.this.id
    log_group     = local.log_group
    maximum       = var.application.maximum
    name          = local.application_name
    submission    = local._submission
  }
}

module "bucket" {
  source = "../private-bucket"

  name          = local.bucket_name
  force_destroy = var.retention.force_destroy
  kms_key_arn   = module.key.arn
  # A stream lists its checkpoint through what it has deleted there (modules/lake).
  replaced_days_below = { "sales/" = 3 }
}

resource "aws_s3_object" "upload" {
  for_each = local.uploads

  bucket = module.bucket.name
  key    = each.key
  source = each.value
  # Not etag: the etag of an encrypted object is not a hash of its content.
  source_hash = filebase64sha256(each.value)

  # S3 takes ten tags of an object, and the bucket has them all.
  override_provider {
    default_tags {
      tags = {}
    }
  }
}

resource "aws_s3_object" "file" {
  for_each = local.file_keys

  bucket  = module.bucket.name
  key     = each.value
  content = var.artifacts.files[each.key]

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
  alias         = local.application_name
  deletion_days = var.retention.key_deletion_days
  description   = "Artifacts and logs of ${local.application_name}"
  services = {
    LetItsLogBeEncrypted = {
      service    = "logs.${var.region}.amazonaws.com"
      actions    = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
      conditions = { ArnEquals = { "kms:EncryptionContext:aws:logs:arn" = "arn:${local.partition}:logs:${var.region}:${var.account_id}:log-group:${local.log_group}" } }
    }
  }
}
