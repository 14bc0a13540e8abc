output "errors" {
  description = "By error table, its name, its ARN, and the index that finds retries that are due."
  value = {
    for table, made in aws_dynamodb_table.errors :
    table => { name = made.name, arn = "${local.arn_start}/${var.prefix}-${table}", due_index = local.due_index }
  }
}

output "readings" {
  description = "By table of readings, its name and its ARN."
  value = {
    for table, made in aws_dynamodb_table.readings :
    table => { name = made.name, arn = "${local.arn_start}/${var.prefix}-${table}" }
  }
}
