output "errors" {
  description = "The error table: its name, its ARN, and the index that finds retries that are due."
  value = {
    name      = aws_dynamodb_table.errors.name
    arn       = "${local.arn_start}/${var.prefix}-errors"
    due_index = local.due_index
  }
}

output "readings" {
  description = "By table of readings, its name and its ARN."
  value = {
    for table, made in aws_dynamodb_table.readings :
    table => { name = made.name, arn = "${local.arn_start}/${var.prefix}-${table}" }
  }
}
