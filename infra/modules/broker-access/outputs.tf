output "bootstrap_servers" {
  description = "One broker per zone as host:port, separated by commas, so that the value stays as brokers are added; available once each name resolves to its endpoint."
  value       = join(",", local.servers)

  depends_on = [
    aws_msk_vpc_connection.this,
    aws_route53_record.broker,
    aws_vpc_endpoint_connection_accepter.broker,
    aws_vpc_security_group_ingress_rule.client,
  ]
}

output "secret_arn" {
  description = "The secret in this account that holds the Kafka user and password."
  value       = aws_secretsmanager_secret.login.arn

  depends_on = [aws_secretsmanager_secret_version.login]
}

output "secret_name" {
  description = "The name of that secret, known at plan."
  value       = aws_secretsmanager_secret.login.name
}

output "security_group_id" {
  description = "The security group of the endpoints, for clients' egress rules."
  value       = aws_security_group.this.id
}
