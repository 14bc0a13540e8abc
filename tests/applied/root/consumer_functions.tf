# The module of the consumer functions: what a mapping depends on changes between its deletion and its creation.
variable "mapping" {
  type = object({ park_failed_batches = bool, provisioned = optional(object({})) })
}

module "consumer_functions" {
  source = "../modules/consumer-functions"

  bootstrap_servers = "b-1.nowhere.abc123.c2.kafka.eu-central-1.amazonaws.com:9096"
  functions = {
    consumer = { errors = "errors", function = "applied-consumer", memory_mib = 512, table = "readings", topics = ["sensor"] }
  }
  mapping = var.mapping
  platform = {
    account_id = "930000000001"
    region     = "eu-central-1"
    brokers = {
      group_prefix = "analytics-"
      logins = {
        functions = {
          group_prefix = "analytics-applied-consumer"
          secret_arn   = aws_secretsmanager_secret.this.arn
          secret_name  = aws_secretsmanager_secret.this.name
          topics       = ["sensor"]
        }
      }
      servers = "b-1.nowhere.abc123.c2.kafka.eu-central-1.amazonaws.com:9096"
    }
    functions  = { architecture = "arm64", packages = path.root, python_version = "3.13" }
    lake       = { parked_bucket = { arn = "arn:aws:s3:::applied-parked", name = "applied-parked" } }
    network    = { egress = {}, subnet_ids = [aws_subnet.this["a"].id], vpc_id = aws_vpc.this.id }
    registry   = { backups = "", urls = "glue://penstock?region=eu-central-1" }
    retention  = { log_days = 30 }
    statements = { read_backups = "[]", read_registry_secrets = "[]", read_schemas = "[]" }
    store      = { errors = { errors = { name = "applied-errors" } }, readings = { readings = { name = "applied-readings" } } }
  }
  shapes  = { readings = { settings = {} } }
  writers = { consumer = { keep_errors = "[]", use_keys = "[]", write_rows = jsonencode([{ Effect = "Allow", Action = ["dynamodb:PutItem"], Resource = ["*"] }]) } }
}
