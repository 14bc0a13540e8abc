output "arn" {
  description = "The cluster's ARN."
  value       = one(concat(aws_msk_cluster.this[*].arn, aws_msk_serverless_cluster.this[*].arn))
  depends_on  = [aws_msk_cluster_policy.this]
}

output "bootstrap_servers" {
  description = "Up to three bootstrap brokers, for clients with IAM and with SCRAM (null in a serverless cluster)."
  value = {
    iam = (
      local.is_provisioned
      ? join(",", [for broker in local.bootstrap_brokers : "${broker}:9098"])
      : one(aws_msk_serverless_cluster.this[*].bootstrap_brokers_sasl_iam)
    )
    scram = local.is_provisioned ? join(",", [for broker in local.bootstrap_brokers : "${broker}:9096"]) : null
  }
}

output "broker_count" {
  description = "The number of brokers, named b-1 to b-<count>.<zone_name>; null in a serverless cluster."
  value       = local.is_provisioned ? local.broker_count : null
}

output "multi_vpc_brokers" {
  description = "With multi_vpc, the address of each broker for consumers, by broker id, in the form that broker-exposure-privatelink has."
  value = {
    for id in range(1, local.broker_count + 1) : tostring(id) => {
      host         = "b-${id}.scram.${local.zone_name}"
      port         = 14000 + id
      service_arn  = null
      service_id   = null
      service_name = null
      tls_port     = null
      zone_ids     = keys(var.subnet_ids)
    } if var.exposure == "multi_vpc"
  }
}

output "name" {
  description = "The cluster's name, CloudWatch's dimension."
  value       = local.name
}

output "secret_prefix" {
  description = "What the names of the users' secrets begin with, before the name of the program."
  value       = local.secret_prefix
}

output "security_group_id" {
  description = "The brokers' security group."
  value       = aws_security_group.this.id
}

output "users" {
  description = "By program: its Kafka users, and the secret and the rotation number of the one in use, available once the brokers know it."
  value = {
    for program, user in var.users : program => {
      rotation   = user.rotation
      secret_arn = aws_secretsmanager_secret.user[local.used_logins[program]].arn
      usernames  = [for login, of in local.logins : login if of.program == program]
    }
  }
  depends_on = [aws_msk_scram_secret_association.this, aws_vpc_security_group_ingress_rule.client]
}

output "zone_name" {
  description = "The domain of the brokers' names; null in a serverless cluster."
  value       = local.zone_name
}
