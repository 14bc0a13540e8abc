# Tables of DynamoDB that are equal to the database's. A deleted row keeps its key and place until its _expiresAt.
module "tables" {
  source = "../../modules/reading-store"

  prefix     = var.platform.prefix
  account_id = var.platform.account_id
  region     = var.platform.region
  errors     = []
  key_alias  = "cdc-jobs"
  retention  = var.platform.retention
  tables = merge([
    for name, job in var.jobs : { for topic, key in job.dynamodb : local.names[name][topic] => { hash_key = key } }
  ]...)
}
