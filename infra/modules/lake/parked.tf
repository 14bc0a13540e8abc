# Parked records, and the topic that announces them. The event source mapping puts whole batches below
# aws/lambda/; jobs/replay.py puts single records below records/, and then one notice below notices/.
locals {
  batches_prefix  = "aws/lambda/"
  _log_prefix     = "dead-letters/"
  notices_prefix  = "notices/"
  _records_prefix = "records/"

  # Objects below errors/ never expire, because open dead letters in DynamoDB need them.
  expiry = {
    for name, prefix in { batches = local.batches_prefix, log = local._log_prefix, notices = local.notices_prefix, records = local._records_prefix } :
    name => { days = var.keep_days.parked, prefix = prefix }
  }
}

module "parked_bucket" {
  source = "../private-bucket"

  name          = local.parked_name
  expiry        = local.expiry
  force_destroy = var.retention.force_destroy
  kms_key_arn   = module.key.arn
  replaced_days = var.keep_days.replaced
}

# Tables over lines of JSON: all dead letters (src/penstock/sinks/error_table.py), and those that jobs/replay.py and the retry
# function park, with their raw key and value in base64 (src/penstock/sinks/parked_records.py).
locals {
  dead_letter_columns = [
    { name = "id", type = "string" },
    { name = "topic", type = "string" },
    { name = "kafka_partition", type = "int" },
    { name = "kafka_offset", type = "bigint" },
    { name = "kafka_timestamp", type = "bigint" },
    { name = "reason", type = "string" },
    { name = "detail", type = "string" },
    { name = "schema_id", type = "string" },
    { name = "first_seen", type = "bigint" },
    { name = "stage", type = "string" },
    { name = "driver", type = "string" },
    { name = "waiting_for", type = "array<string>" },
  ]
  json_tables = {
    dead_letters = {
      description = "Records when they became dead letters; a batch that is read again may add a record again"
      prefix      = local._log_prefix
      columns     = [{ name = "error_table", type = "string" }]
    }
    parked_records = {
      description = "Records that were tried again three times, with their raw key and value in base64"
      prefix      = local._records_prefix
      columns = [
        { name = "key", type = "string" },
        { name = "value", type = "string" },
        { name = "headers", type = "array<struct<name:string,value:string>>" },
        { name = "attempts", type = "int" },
      ]
    }
  }
}

resource "aws_glue_catalog_table" "json" {
  for_each = local.json_tables

  database_name = aws_glue_catalog_database.this.name
  name          = each.key
  description   = each.value.description
  table_type    = "EXTERNAL_TABLE"
  parameters    = { classification = "json" }

  storage_descriptor {
    location      = "s3://${module.parked_bucket.name}/${each.value.prefix}"
    input_format  = "org.apache.hadoop.mapred.TextInputFormat"
    output_format = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"

    ser_de_info {
      serialization_library = "org.openx.data.jsonserde.JsonSerDe"
    }

    dynamic "columns" {
      for_each = concat(local.dead_letter_columns, each.value.columns)

      content {
        name = columns.value.name
        type = columns.value.type
      }
    }
  }
}

resource "aws_s3_bucket_notification" "parked" {
  bucket = module.parked_bucket.name

  topic {
    id            = "batches-of-the-mapping"
    events        = ["s3:ObjectCreated:*"]
    filter_prefix = local.batches_prefix
    # S3 publishes a test message when this is created, so the topic must admit it by then.
    topic_arn = module.parked_topic.arn
  }

  # Records are not announced one by one: there may be hundreds at a time.
  topic {
    id            = "notices-of-replays"
    events        = ["s3:ObjectCreated:*"]
    filter_prefix = local.notices_prefix
    topic_arn     = module.parked_topic.arn
  }
}

module "parked_topic" {
  source = "../notice-topic"

  name        = "${var.prefix}-parked"
  account_id  = var.account_id
  region      = var.region
  kms_key_arn = module.key.arn
  publishers  = { "s3.amazonaws.com" = { ArnEquals = { "aws:SourceArn" = module.parked_bucket.arn } } }
  subscribers = var.subscribers
}
