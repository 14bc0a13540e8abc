output "arn" {
  description = "The crawler's ARN."
  value       = local.crawler_arn
}

output "name" {
  description = "The crawler's name."
  value       = aws_glue_crawler.this.name
}

output "role_arn" {
  description = "The ARN of the crawler's role."
  value       = aws_iam_role.this.arn
}
