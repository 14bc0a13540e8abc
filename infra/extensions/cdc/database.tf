# A PostgreSQL of RDS with logical replication, or the way to one that exists, and the login of the connector.
locals {
  database = {
    host = coalesce(
      try(var.database.existing.host, null),
      one(values(aws_db_instance.this)[*].address),
      one([for endpoint in values(aws_vpc_endpoint.database) : endpoint.dns_entry[0].dns_name]),
    )
    port              = var.database.port
    security_group_id = try(var.database.existing.security_group_id, one(values(aws_security_group.database)[*].id))
  }
  family     = var.database.instance == null ? "" : "postgres${split(".", var.database.instance.version)[0]}"
  identifier = var.database.instance == null ? try(var.database.existing.identifier, null) : local.name
  instances  = var.database.instance == null ? {} : { this = var.database.instance }
  services   = var.database.endpoint_service == null ? {} : { this = var.database.endpoint_service }

  # Static ones need a reboot; a new instance starts with them. With log_statement, the log would have passwords.
  parameters = var.database.instance == null ? {} : {
    "log_min_duration_statement" = { value = "5000", method = "immediate" }
    "max_slot_wal_keep_size"     = { value = tostring(var.database.instance.max_slot_wal_gib * 1024), method = "immediate" }
    "rds.force_ssl"              = { value = "1", method = "immediate" }
    "rds.logical_replication"    = { value = "1", method = "pending-reboot" }
  }

  secret_name = "${local.name}-login"
}

module "key" {
  source = "../../modules/customer-key"

  account_id    = var.platform.account_id
  alias         = local.name
  deletion_days = var.platform.retention.key_deletion_days
  description   = "The database, the login and the plugin of the connector ${local.name}"
}

resource "aws_db_parameter_group" "this" {
  for_each = local.instances

  # A group has one family. Another major version gets a group of its own while the old one is in use.
  name_prefix = "${local.name}-${local.family}-"
  description = "Logical replication for ${local.name}"
  family      = local.family

  dynamic "parameter" {
    for_each = local.parameters

    content {
      name         = parameter.key
      value        = parameter.value.value
      apply_method = parameter.value.method
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_db_subnet_group" "this" {
  for_each = local.instances

  name        = local.name
  description = "The private subnets of ${local.name}"
  subnet_ids  = var.platform.network.subnet_ids
}

# Created before the instance: RDS's own log group never expires.
resource "aws_cloudwatch_log_group" "database" {
  # checkov:skip=CKV_AWS_158: CloudWatch encrypts it with its own key; logs hold slow and refused statements
  # checkov:skip=CKV_AWS_338: retention.log_days of the root decides
  for_each = local.instances

  name              = "/aws/rds/instance/${local.name}/postgresql"
  retention_in_days = var.platform.retention.log_days
}

resource "aws_db_instance" "this" {
  # checkov:skip=CKV_AWS_118: enhanced monitoring needs a role and is billed by its data; the alarms read RDS's own metrics
  # checkov:skip=CKV_AWS_133: instance.backup_days decides; it is 7 unless somebody changes it
  # checkov:skip=CKV_AWS_157: instance.multi_az decides; it is on unless somebody turns it off
  # checkov:skip=CKV_AWS_161: Debezium logs in by password, over TLS
  # checkov:skip=CKV_AWS_293: instance.deletion_protection decides; it is on unless somebody turns it off
  # checkov:skip=CKV_AWS_353: performance insights are the owner's choice
  # checkov:skip=CKV2_AWS_69: the parameter group has rds.force_ssl in a dynamic block, which checkov does not read
  for_each = local.instances

  identifier            = local.identifier
  engine                = "postgres"
  engine_version        = each.value.version
  instance_class        = each.value.class
  db_name               = var.database.name
  port                  = var.database.port
  username              = each.value.username
  allocated_storage     = each.value.storage_gib
  max_allocated_storage = each.value.storage_gib * 2
  storage_type          = "gp3"
  storage_encrypted     = true
  kms_key_id            = module.key.arn

  # RDS makes the master's password, keeps it in Secrets Manager and rotates it each week.
  manage_master_user_password   = true
  master_user_secret_kms_key_id = module.key.arn

  # In its maintenance window it would come after the old parameter group should be gone.
  allow_major_version_upgrade = each.value.major_upgrade
  apply_immediately           = each.value.major_upgrade

  auto_minor_version_upgrade      = true
  backup_retention_period         = each.value.backup_days
  copy_tags_to_snapshot           = true
  deletion_protection             = each.value.deletion_protection
  enabled_cloudwatch_logs_exports = ["postgresql"]
  final_snapshot_identifier       = "${local.name}-final"
  multi_az                        = each.value.multi_az
  publicly_accessible             = false
  skip_final_snapshot             = var.platform.retention.force_destroy

  db_subnet_group_name   = aws_db_subnet_group.this[each.key].name
  parameter_group_name   = aws_db_parameter_group.this[each.key].name
  vpc_security_group_ids = [aws_security_group.database[each.key].id]

  depends_on = [aws_cloudwatch_log_group.database]
}

# The security group of the instance, or of the endpoint.
resource "aws_security_group" "database" {
  for_each = toset(concat(keys(local.instances), keys(local.services)))

  name        = "${local.name}-database"
  description = "The database of ${local.name}"
  vpc_id      = var.platform.network.vpc_id

  tags = { Name = "${local.name}-database" }
}

# The password of the connector's user, which no state has.
ephemeral "aws_secretsmanager_random_password" "this" {
  exclude_punctuation = true
  password_length     = 32
}

resource "aws_secretsmanager_secret" "this" {
  # checkov:skip=CKV2_AWS_57: the database must get a new password too; login.rotation makes one, and docs/cdc.md says how
  name                    = local.secret_name
  description             = "Database user and password of the connector ${local.name}"
  kms_key_id              = module.key.arn
  recovery_window_in_days = var.platform.retention.secret_recovery_days
}

resource "aws_secretsmanager_secret_version" "this" {
  secret_id = aws_secretsmanager_secret.this.id
  secret_string_wo = jsonencode({
    username = var.login.username
    password = ephemeral.aws_secretsmanager_random_password.this.random_password
  })
  secret_string_wo_version = var.login.rotation
}
