# One cluster, and the ways to it from other VPCs: a VPC of another account for each, with the modules of both roots.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

# The account is that of the environment's keys.
provider "aws" {
  region = "eu-central-1"

  default_tags {
    tags = { project = "penstock" }
  }
}

provider "aws" {
  alias      = "consumer"
  region     = "eu-central-1"
  access_key = local.consumer
  secret_key = "any"
}

locals {
  consumer = "930000000012"
  producer = "930000000011"
  zone_ids = ["euc1-az1", "euc1-az2"]

  cidrs    = { multi_vpc = "10.1.0.0/16", peering = "10.2.0.0/16", privatelink = "10.3.0.0/16" }
  ways     = toset(keys(local.cidrs))
  programs = { for way in local.ways : way => "ways_${replace(way, "_", "-")}" }
  # Those that carry logins by client certificate too.
  certified = ["peering", "privatelink"]
  brokers = {
    multi_vpc   = module.cluster.multi_vpc_brokers
    peering     = module.peering.brokers
    privatelink = module.privatelink.brokers
  }
}

module "network" {
  source = "../modules/network"

  prefix            = "ways"
  account_id        = local.producer
  region            = "eu-central-1"
  gateway_endpoints = []
  other_cidrs       = values(local.cidrs)
  zone_ids          = local.zone_ids
}

# The private CA of the clients' certificates.
resource "aws_acmpca_certificate_authority" "clients" {
  type                            = "ROOT"
  permanent_deletion_time_in_days = 7

  certificate_authority_configuration {
    key_algorithm     = "RSA_2048"
    signing_algorithm = "SHA256WITHRSA"

    subject {
      common_name  = "Clients"
      organization = "Acme"
    }
  }
}

resource "aws_acmpca_certificate" "clients" {
  certificate_authority_arn   = aws_acmpca_certificate_authority.clients.arn
  certificate_signing_request = aws_acmpca_certificate_authority.clients.certificate_signing_request
  signing_algorithm           = "SHA256WITHRSA"
  template_arn                = "arn:aws:acm-pca:::template/RootCACertificate/V1"

  validity {
    type  = "YEARS"
    value = 1
  }
}

resource "aws_acmpca_certificate_authority_certificate" "clients" {
  certificate_authority_arn = aws_acmpca_certificate_authority.clients.arn
  certificate               = aws_acmpca_certificate.clients.certificate
}

module "cluster" {
  source = "../modules/broker-cluster"

  prefix     = "ways"
  account_id = local.producer
  region     = "eu-central-1"
  cluster    = { broker_count = 2, certificate_authorities = [aws_acmpca_certificate_authority_certificate.clients.certificate_authority_arn] }
  exposure   = "multi_vpc"
  retention  = { key_deletion_days = 7, secret_recovery_days = 0 }
  subnet_ids = module.network.subnet_ids
  users      = { for program in values(local.programs) : program => { account_id = local.consumer } }
  vpc_id     = module.network.vpc_id
}

module "peering" {
  source = "../modules/broker-exposure-peering"

  prefix       = "ways"
  broker_count = 2
  cluster      = { security_group_id = module.cluster.security_group_id, zone_name = module.cluster.zone_name }
  consumers = { ways = {
    account_id    = local.consumer
    cidr          = module.consumer_network["peering"].cidr
    connection_id = module.access["peering"].peering
  } }
  ports           = [9096, 9094]
  route_table_ids = module.network.route_table_ids
  vpc_id          = module.network.vpc_id
  zone_ids        = local.zone_ids
}

module "privatelink" {
  source = "../modules/broker-exposure-privatelink"

  prefix       = "ways"
  broker_count = 2
  cluster      = { arn = module.cluster.arn, security_group_id = module.cluster.security_group_id, zone_name = module.cluster.zone_name }
  consumers    = { ways = local.consumer }
  ports        = [9096, 9094]
  subnet_ids   = module.network.subnet_ids
  vpc_id       = module.network.vpc_id
}

module "consumer_network" {
  source    = "../modules/network"
  for_each  = local.ways
  providers = { aws = aws.consumer }

  prefix            = "ways-${each.value}"
  account_id        = local.consumer
  region            = "eu-central-1"
  cidr              = local.cidrs[each.value]
  gateway_endpoints = []
  zone_ids          = local.zone_ids
}

resource "aws_security_group" "client" {
  for_each = local.ways
  provider = aws.consumer

  name   = "client-${each.value}"
  vpc_id = module.consumer_network[each.value].vpc_id
}

resource "aws_vpc_security_group_egress_rule" "client" {
  for_each = local.ways
  provider = aws.consumer

  security_group_id            = aws_security_group.client[each.value].id
  ip_protocol                  = "tcp"
  from_port                    = module.access[each.value].egress.port
  to_port                      = module.access[each.value].egress.to_port
  cidr_ipv4                    = module.access[each.value].egress.cidr
  referenced_security_group_id = module.access[each.value].egress.security_group_id
}

module "access" {
  source    = "../modules/broker-access"
  for_each  = local.ways
  providers = { aws = aws.consumer, aws.producer = aws }

  prefix     = "ways-${each.value}"
  account_id = local.consumer
  clients    = { client = aws_security_group.client[each.value].id }
  contract = {
    acceptance_required = true
    exposure            = each.value
    producer_account_id = local.producer
    brokers             = local.brokers[each.value]
    cluster             = { arn = module.cluster.arn, name = module.cluster.name, zone_name = module.cluster.zone_name }
    peering             = { cidr = module.network.cidr, vpc_id = module.network.vpc_id }
    programs = merge(
      { program = merge(module.cluster.users[local.programs[each.value]], { group_prefix = "ways-", topics = ["sensor"] }) },
      { for way in local.certified : "certified" => { certificate = "CN=${way},O=Acme", group_prefix = "ways-certified-", topics = ["sensor"] } if way == each.value },
    )
  }
  retention       = { key_deletion_days = 7, secret_recovery_days = 0 }
  route_table_ids = module.consumer_network[each.value].route_table_ids
  subnet_ids      = module.consumer_network[each.value].subnet_ids
  vpc_id          = module.consumer_network[each.value].vpc_id
}

# For clients of its own account, which are in its VPC.
module "serverless" {
  source = "../modules/broker-cluster"

  prefix     = "ways-serverless"
  account_id = local.producer
  region     = "eu-central-1"
  clients    = { client = aws_security_group.serverless.id }
  cluster    = { type = "serverless" }
  subnet_ids = module.network.subnet_ids
  vpc_id     = module.network.vpc_id
}

resource "aws_security_group" "serverless" {
  name   = "client-serverless"
  vpc_id = module.network.vpc_id
}

resource "aws_vpc_security_group_egress_rule" "serverless" {
  security_group_id            = aws_security_group.serverless.id
  ip_protocol                  = "tcp"
  from_port                    = 9098
  to_port                      = 9098
  referenced_security_group_id = module.serverless.security_group_id
}

output "serverless" {
  value = {
    arn               = module.serverless.arn
    bootstrap_servers = module.serverless.bootstrap_servers.iam
    group             = aws_security_group.serverless.id
    subnets           = values(module.network.subnet_ids)
    vpc               = module.network.vpc_id
  }
}

output "ways" {
  value = { for way in local.ways : way => {
    tls_servers       = join(",", [for broker in values(local.brokers[way]) : "${broker.host}:${broker.tls_port}" if broker.tls_port != null])
    bootstrap_servers = module.access[way].bootstrap_servers
    brokers           = local.brokers[way]
    cidr              = local.cidrs[way]
    connection        = module.access[way].peering
    group             = aws_security_group.client[way].id
    route_table       = module.consumer_network[way].route_table_ids[0]
    secrets           = { for name, login in module.access[way].logins : name => login.secret_arn }
    subnets           = values(module.consumer_network[way].subnet_ids)
    vpc               = module.consumer_network[way].vpc_id
  } }
}

output "cluster" {
  value = {
    arn   = module.cluster.arn
    ca    = aws_acmpca_certificate_authority.clients.arn
    cidr  = module.network.cidr
    group = module.cluster.security_group_id
    vpc   = module.network.vpc_id
  }
}
