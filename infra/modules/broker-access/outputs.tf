output "bootstrap_servers" {
  description = "One broker per zone as host:port, separated by commas, so that the value stays as brokers are added; available once each name resolves to its endpoint."
  value       = local.servers

  depends_on = [
    aws_msk_vpc_connection.this,
    aws_route.brokers,
    aws_route53_record.broker,
    aws_vpc_endpoint_connection_accepter.broker,
    aws_vpc_security_group_ingress_rule.client,
  ]
}

output "egress" {
  description = "The way to the brokers for clients' egress rules: ports, and the endpoints' security group or, with peering, the address range of the brokers' VPC."
  value = {
    cidr              = local.peered ? var.contract.peering.cidr : null
    port              = min(local.ports...)
    security_group_id = one(aws_security_group.this[*].id)
    to_port           = max(local.ports...)
  }
}

output "logins" {
  description = "By program: its login (security, scram or tls), the secret with it (ARN and name), topics that it reads and writes, group prefix, and use of transactional ids."
  value = {
    for name, program in var.contract.programs : name => {
      group_prefix = program.group_prefix
      secret_arn   = aws_secretsmanager_secret.login[name].arn
      secret_name  = aws_secretsmanager_secret.login[name].name
      security     = program.certificate == null ? "scram" : "tls"
      topics       = program.topics
      transactions = program.transactions
      writes       = program.writes
    }
  }

  depends_on = [aws_secretsmanager_secret_version.login]
}

output "peering" {
  description = "The id of the peering connection, for the producer's root, once it is asked for; null without peering."
  value       = one(aws_vpc_peering_connection.this[*].id)
}

output "servers" {
  description = "The same as bootstrap_servers, before their endpoints are there; known in a plan."
  value       = local.servers
}

output "settings" {
  description = "The brokers and the login in the settings of commands: the login of clients, or that of the first program."
  value = {
    KAFKA_BOOTSTRAP_SERVERS = local.command.certificate == null ? local.servers : local.tls_servers
    KAFKA_SECRET_ARN        = aws_secretsmanager_secret.login[local.command_program].arn
    KAFKA_SECURITY          = local.command.certificate == null ? "scram" : "tls"
  }
}

output "tls_servers" {
  description = "One broker per zone as host:port, separated by commas, for logins by client certificate; empty without them, known in a plan."
  value       = local.tls_servers
}
