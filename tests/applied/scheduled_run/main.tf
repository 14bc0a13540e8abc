# An application with one run that a schedule starts, in a VPC of its own.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

provider "aws" {
  region = "eu-central-1"
}

variable "pyfiles" {
  type = string
}

variable "schedule" {
  type = string
}

locals {
  account_id = "930000000004"
  region     = "eu-central-1"
}

module "network" {
  source = "../modules/network"

  account_id          = local.account_id
  clients             = { spark = module.spark.security_group_id }
  interface_endpoints = ["logs"]
  prefix              = "penstock-nightly"
  region              = local.region
  zone_ids            = ["euc1-az1", "euc1-az2"]
}

module "spark" {
  source = "../modules/spark-application"

  prefix     = "penstock-nightly"
  account_id = local.account_id
  region     = local.region
  artifacts = {
    files    = { "words.txt" = "nightly" }
    programs = { count = "${path.module}/count.py" }
    pyfiles  = var.pyfiles
  }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = module.network.egress
  }
  retention = { force_destroy = true, key_deletion_days = 7 }
  roles = { count = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["sts:GetCallerIdentity"], Resource = ["*"] }]
  }) }
  runs = {
    count = { program = "count", role = "count", arguments = ["words.txt", "<b>"], schedule = var.schedule }
  }
}

output "application_id" {
  value = module.spark.application.id
}

output "schedules" {
  value = module.spark.schedules
}

output "submit_commands" {
  value = module.spark.submit_commands
}
