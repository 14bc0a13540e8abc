output "arn" {
  description = "The crawler's ARN."
  value       = local.crawler_arn
}

output "lake_principals" {
  description = "What its role needs of Lake Formation, for the input principals of infra/extensions/lake_formation."
  value = {
    "crawler/parquet" = { arn = aws_iam_role.this.arn, database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE"] }
  }
}

output "name" {
  description = "The crawler's name."
  value       = aws_glue_crawler.this.name
}
