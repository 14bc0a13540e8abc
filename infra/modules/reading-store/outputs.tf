output "errors" {
  description = "The dead-letter tables: name, ARN, and the index of retries that are due."
  value = {
    for table, made in aws_dynamodb_table.errors :
    table => { name = made.name, arn = "${local.arn_start}/${var.prefix}-${table}", due_index = local.due_index }
  }
}

output "readings" {
  description = "The tables of readings: name and ARN each."
  value = {
    for table, made in aws_dynamodb_table.readings :
    table => { name = made.name, arn = "${local.arn_start}/${var.prefix}-${table}" }
  }
}
