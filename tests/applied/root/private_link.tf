# One broker of the producer, exposed to a consumer: the resources of the producer's root, and the module of the other.
locals {
  port = 9096
  zone = "terraform.abc123.c1.kafka.eu-central-1.amazonaws.com"
}

variable "acceptance_required" {
  type = bool
}

resource "aws_vpc" "producer" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_subnet" "producer" {
  vpc_id            = aws_vpc.producer.id
  cidr_block        = "10.0.1.0/24"
  availability_zone = "eu-central-1a"
}

resource "aws_security_group" "balancer" {
  name   = "balancer"
  vpc_id = aws_vpc.producer.id
}

resource "aws_vpc_security_group_egress_rule" "balancer" {
  security_group_id            = aws_security_group.balancer.id
  ip_protocol                  = "tcp"
  from_port                    = local.port
  to_port                      = local.port
  referenced_security_group_id = aws_security_group.broker.id
}

resource "aws_security_group" "broker" {
  name   = "broker"
  vpc_id = aws_vpc.producer.id
}

resource "aws_vpc_security_group_ingress_rule" "broker" {
  security_group_id            = aws_security_group.broker.id
  ip_protocol                  = "tcp"
  from_port                    = local.port
  to_port                      = local.port
  referenced_security_group_id = aws_security_group.balancer.id
}

# Stands for the interface that MSK would make.
resource "aws_network_interface" "broker" {
  subnet_id       = aws_subnet.producer.id
  security_groups = [aws_security_group.broker.id]
}

resource "aws_lb" "broker" {
  name                                                         = "terraform-b1"
  load_balancer_type                                           = "network"
  internal                                                     = true
  subnets                                                      = [aws_subnet.producer.id]
  security_groups                                              = [aws_security_group.balancer.id]
  enforce_security_group_inbound_rules_on_private_link_traffic = "off"
}

resource "aws_lb_target_group" "broker" {
  name        = "terraform-b1"
  port        = local.port
  protocol    = "TCP"
  target_type = "ip"
  vpc_id      = aws_vpc.producer.id
}

resource "aws_lb_target_group_attachment" "broker" {
  target_group_arn = aws_lb_target_group.broker.arn
  target_id        = aws_network_interface.broker.private_ip
}

resource "aws_lb_listener" "broker" {
  load_balancer_arn = aws_lb.broker.arn
  port              = local.port
  protocol          = "TCP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.broker.arn
  }
}

resource "aws_vpc_endpoint_service" "broker" {
  acceptance_required        = var.acceptance_required
  network_load_balancer_arns = [aws_lb.broker.arn]
}

resource "aws_vpc_endpoint_service_allowed_principal" "consumer" {
  vpc_endpoint_service_id = aws_vpc_endpoint_service.broker.id
  principal_arn           = "arn:aws:iam::222222222222:root"
}

resource "aws_vpc" "consumer" {
  provider = aws.consumer

  cidr_block           = "10.1.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_subnet" "consumer" {
  provider = aws.consumer

  vpc_id            = aws_vpc.consumer.id
  cidr_block        = "10.1.1.0/24"
  availability_zone = "eu-central-1a"
}

resource "aws_vpc_security_group_ingress_rule" "endpoint" {
  provider = aws.consumer

  security_group_id = module.broker_access.egress.security_group_id
  ip_protocol       = "tcp"
  from_port         = local.port
  to_port           = local.port
  cidr_ipv4         = aws_vpc.consumer.cidr_block
}

# The client's certificate stands for a user, whose secret would come from the producer.
module "broker_access" {
  source    = "../modules/broker-access"
  providers = { aws = aws.consumer, aws.producer = aws }

  prefix     = "applied"
  account_id = "222222222222"
  contract = {
    acceptance_required = var.acceptance_required
    exposure            = "privatelink"
    brokers = { 1 = {
      host         = "b-1.${local.zone}"
      port         = local.port
      tls_port     = local.port
      service_id   = aws_vpc_endpoint_service.broker.id
      service_name = aws_vpc_endpoint_service.broker.service_name
      zone_ids     = ["euc1-az1"]
    } }
    cluster  = { arn = "arn:aws:kafka:eu-central-1:930000000001:cluster/terraform/1", name = "terraform", zone_name = local.zone }
    programs = { clients = { certificate = "CN=anna", group_prefix = "anna-", topics = ["sensor"] } }
  }
  retention  = { key_deletion_days = 7, secret_recovery_days = 0 }
  subnet_ids = { euc1-az1 = aws_subnet.consumer.id }
  vpc_id     = aws_vpc.consumer.id

  depends_on = [aws_vpc_endpoint_service_allowed_principal.consumer]
}

resource "aws_vpc_endpoint" "sts" {
  provider = aws.consumer

  vpc_id              = aws_vpc.consumer.id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.eu-central-1.sts"
  subnet_ids          = [aws_subnet.consumer.id]
  security_group_ids  = [module.broker_access.egress.security_group_id]
  private_dns_enabled = true

  tags = { Name = "sts" }
}

resource "aws_vpc_endpoint" "s3" {
  provider = aws.consumer

  vpc_id          = aws_vpc.consumer.id
  service_name    = "com.amazonaws.eu-central-1.s3"
  route_table_ids = [aws_vpc.consumer.main_route_table_id]
}

output "broker" {
  value = {
    host      = "b-1.${local.zone}"
    interface = aws_network_interface.broker.id
    port      = local.port
    vpc       = aws_vpc.consumer.id
  }
}
