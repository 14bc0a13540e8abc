output "connector_arn" {
  description = "The connector's ARN, null before the database is prepared."
  value       = one(aws_mskconnect_connector.this[*].arn)
}

output "database" {
  description = "The database: host, port, name, security group, and the secret of its master, null for one that exists."
  value = {
    host              = local.database.host
    port              = local.database.port
    name              = var.database.name
    security_group_id = local.database.security_group_id
    master_secret_arn = one([for instance in values(aws_db_instance.this) : instance.master_user_secret[0].secret_arn])
  }
}

output "key_arn" {
  description = "The key of the database and of both secrets."
  value       = module.key.arn
}

output "login_secret_arn" {
  description = "The secret with the user and the password of the connector."
  value       = aws_secretsmanager_secret.this.arn
}

output "rotate_sql" {
  description = "SQL that the master runs in the database after login.rotation was raised, by psql -v password=PASSWORD, the new one in login_secret_arn."
  value       = "ALTER ROLE ${var.login.username} PASSWORD :'password';\n"
}

output "security_group_id" {
  description = "The security group of the worker."
  value       = aws_security_group.this.id
}

output "setup_sql" {
  description = "SQL that the master runs in the database before the connector is made, by psql -v password=PASSWORD, the one in login_secret_arn."
  value       = local.setup_sql
}

output "topics" {
  description = "The topic of each table."
  value       = { for table in var.tables : table => "${var.name}.${table}" }
}
