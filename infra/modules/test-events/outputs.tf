output "schemas" {
  description = "The schema of each function's test events, by function."
  value       = { for function, schema in aws_schemas_schema.function : function => schema.name }
}
