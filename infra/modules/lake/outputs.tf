output "bucket" {
  description = "The lake's bucket: its name and its ARN; tables go below tables/."
  value       = { name = module.bucket.name, arn = module.bucket.arn }
}

output "database" {
  description = "The Glue database of the tables: its name and its ARN."
  value = {
    name = aws_glue_catalog_database.this.name
    arn  = "arn:${local.partition}:glue:${var.region}:${var.account_id}:database/${local.database}"
  }
}

output "key_arn" {
  description = "The key of the buckets and of the results of queries."
  value       = module.key.arn
}

output "parked_bucket" {
  description = "The bucket for parked records: name and ARN."
  value       = { name = module.parked_bucket.name, arn = module.parked_bucket.arn }

  # A writer of a batch relies on its being announced.
  depends_on = [aws_s3_bucket_notification.parked]
}

output "parked_records" {
  description = "The Athena table of parked records."
  value       = "${aws_glue_catalog_database.this.name}.${aws_glue_catalog_table.json["parked_records"].name}"
}

output "workgroup" {
  description = "The Athena work group to query the tables with."
  value       = aws_athena_workgroup.this.name
}
