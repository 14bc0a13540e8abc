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

output "logins" {
  description = "By program: the secret in this account that holds its Kafka user and password (ARN and name), its topics, the prefix of its groups, and whether it may use transactional ids."
  value = {
    for name, program in var.contract.programs : name => {
      group_prefix = program.group_prefix
      secret_arn   = aws_secretsmanager_secret.login[name].arn
      secret_name  = aws_secretsmanager_secret.login[name].name
      topics       = program.topics
      transactions = program.transactions
      writes       = program.writes
    }
  }

  depends_on = [aws_secretsmanager_secret_version.login]
}

output "security_group_id" {
  description = "The security group of the endpoints, for clients' egress rules."
  value       = aws_security_group.this.id
}
