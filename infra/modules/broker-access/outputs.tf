output "bootstrap_servers" {
  description = "One broker for each zone, so that what is set up with them stays as brokers are added, as host:port with commas between; each name leads to its endpoint by the time it is answered."
  value       = join(",", local.servers)

  depends_on = [
    aws_msk_vpc_connection.this,
    aws_route53_record.broker,
    aws_vpc_endpoint_connection_accepter.broker,
    aws_vpc_security_group_ingress_rule.client,
  ]
}

output "secret_arn" {
  description = "The secret of this account that holds the login."
  value       = aws_secretsmanager_secret.login.arn

  depends_on = [aws_secretsmanager_secret_version.login]
}

output "secret_name" {
  description = "The name of that secret, known before it is made."
  value       = aws_secretsmanager_secret.login.name
}

output "security_group_id" {
  description = "The security group of the endpoints, for clients to be let out to."
  value       = aws_security_group.this.id
}
