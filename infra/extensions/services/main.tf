# Services in containers: on Fargate a task definition each and, with a cluster, the service; in
# EKS the pods run as service accounts of the services' names. Rights are in iam.tf.
locals {
  _ecs = "${var.platform.prefix}-service"

  names   = { for name in keys(var.services) : name => "${local._ecs}-${name}" }
  _logins = { for name in keys(var.services) : name => var.platform.brokers.logins[name] }

  # Rows and tables are not theirs.
  _egress = { for name, way in var.platform.network.egress : name => way if name != "dynamodb" }
  ways_out = merge([
    for service in keys(var.services) : { for name, way in local._egress : "${service}-${name}" => merge(way, { name = name, service = service }) }
  ]...)
  # By way out: what lets a service in.
  ways_in = { for key, way in local.ways_out : key => way if contains(["brokers", "endpoints"], way.name) && way.cidr == null }

  # In EKS the nodes keep the logs, and the brokers are in the manifest.
  takers = var.eks != null && var.cluster_arn == null ? {
    endpoints = ["ecr.api", "ecr.dkr"]
    need      = "pods of EKS need ecr.api and ecr.dkr"
    } : {
    endpoints = ["ecr.api", "ecr.dkr", "logs", "ssm"]
    need      = "Fargate needs ecr.api, ecr.dkr, logs and ssm"
  }

  environments = {
    for name, service in var.services : name => merge(service.environment, {
      AWS_REGION              = var.platform.region
      KAFKA_BOOTSTRAP_SERVERS = local._logins[name].security == "tls" ? var.platform.brokers.tls_servers : var.platform.brokers.bootstrap_servers
      KAFKA_SECRET_ARN        = local._logins[name].secret_arn
      KAFKA_SECURITY          = local._logins[name].security
    })
  }
  containers = {
    for name, service in var.services : name => [{
      essential              = true
      image                  = service.image
      name                   = name
      readonlyRootFilesystem = true
      # Tasks take the brokers for SCRAM from the parameter.
      environment = [
        for key, value in local.environments[name] : { name = key, value = value }
        if key != "KAFKA_BOOTSTRAP_SERVERS" || local._logins[name].security == "tls"
      ]
      logConfiguration = {
        logDriver = "awslogs"
        options = {
          "awslogs-group"         = "/ecs/${local.names[name]}"
          "awslogs-region"        = var.platform.region
          "awslogs-stream-prefix" = name
        }
      }
      secrets = [for parameter in [var.brokers_parameter] : { name = "KAFKA_BOOTSTRAP_SERVERS", valueFrom = parameter } if local._logins[name].security == "scram"]
    }]
  }
}

resource "aws_ssm_parameter" "brokers" {
  # checkov:skip=CKV2_AWS_34: addresses are no secret
  name        = var.brokers_parameter
  description = "Brokers for logins by SCRAM, as host:port separated by commas"
  type        = "String"
  value       = var.platform.brokers.bootstrap_servers
}

resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_158: CloudWatch encrypts it with its own key
  # checkov:skip=CKV_AWS_338: a year unless the caller says otherwise
  for_each = var.services

  name              = "/ecs/${local.names[each.key]}"
  retention_in_days = var.platform.retention.log_days
}

resource "aws_ecs_task_definition" "this" {
  for_each = var.services

  family                   = local.names[each.key]
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = each.value.cpu
  memory                   = each.value.memory_mib
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.task[each.key].arn
  container_definitions    = jsonencode(local.containers[each.key])

  runtime_platform {
    cpu_architecture        = each.value.architecture
    operating_system_family = "LINUX"
  }

  depends_on = [aws_cloudwatch_log_group.this, aws_ssm_parameter.brokers]
}

resource "aws_ecs_service" "this" {
  for_each = var.cluster_arn == null ? {} : var.services

  name            = local.names[each.key]
  cluster         = var.cluster_arn
  task_definition = aws_ecs_task_definition.this[each.key].arn
  desired_count   = each.value.replicas
  launch_type     = "FARGATE"
  # Its tasks are what costs.
  propagate_tags = "SERVICE"

  network_configuration {
    subnets         = var.platform.network.subnet_ids
    security_groups = [aws_security_group.this[each.key].id]
  }

  # Its tasks pull their image and log in as soon as they run.
  depends_on = [
    aws_iam_role_policy.execution,
    aws_iam_role_policy.task,
    aws_vpc_security_group_egress_rule.this,
    aws_vpc_security_group_ingress_rule.this,
  ]
}

# No ingress rule: a service only asks.
resource "aws_security_group" "this" {
  for_each = var.services

  name        = local.names[each.key]
  description = "The service ${each.key}"
  vpc_id      = var.platform.network.vpc_id

  tags = { Name = local.names[each.key] }
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = local.ways_out

  security_group_id            = aws_security_group.this[each.value.service].id
  description                  = "${each.value.service}: ${each.value.name}"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  cidr_ipv4                    = each.value.cidr
  prefix_list_id               = each.value.prefix_list_id
  referenced_security_group_id = each.value.security_group_id
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.ways_in

  security_group_id            = each.value.security_group_id
  description                  = "${each.value.name == "brokers" ? "Kafka" : "HTTPS"} from ${each.value.service}"
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  referenced_security_group_id = aws_security_group.this[each.value.service].id
}
