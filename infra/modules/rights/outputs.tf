output "read_passwords" {
  description = "The statements that let each program read its Kafka login, as a JSON list, by program."
  value       = { for program, statements in local.read_passwords : program => jsonencode(statements) }
}

output "statements" {
  description = "The statements of IAM policies, each a JSON list, by what they allow."
  value       = { for name, statements in local.statements : name => jsonencode(statements) }
}

output "writers" {
  description = "The statements of each writer: keep_errors, use_keys and write_rows, each a JSON list."
  value       = { for name, kinds in local.writers : name => { for kind, statements in kinds : kind => jsonencode(statements) } }
}
