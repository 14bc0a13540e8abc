# A function that starts from a snapshot, in a VPC of its own, and keeps the events that it fails on.
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

variable "architecture" {
  type = string
}

variable "package" {
  type = string
}

variable "python_version" {
  type = string
}

locals {
  account_id = "930000000021"
  region     = "eu-central-1"
}

module "network" {
  source = "../modules/network"

  account_id          = local.account_id
  clients             = { function = module.function.security_group_id }
  interface_endpoints = []
  prefix              = "penstock-snapshots"
  region              = local.region
  zone_ids            = ["euc1-az1", "euc1-az2"]
}

module "function" {
  source = "../modules/lambda-function"

  name        = "penstock-snapshots"
  account_id  = local.account_id
  region      = local.region
  description = "Tells how it was started"
  environment = { GREETING = "hello" }
  network = {
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.workload_subnet_ids)
    egress     = {}
  }
  dead_letters = { bucket_arn = module.rejected_events.bucket.arn }
  package      = { path = var.package, architecture = var.architecture, python_version = var.python_version, snap_start = true }
  policy_json  = module.rejected_events.writer_policies["penstock-snapshots"]
}

module "rejected_events" {
  source = "../modules/rejected-events"

  account_id = local.account_id
  functions  = ["penstock-snapshots"]
  prefix     = "penstock-snapshots"
  region     = local.region
  retention  = { force_destroy = true }
}

output "bucket" {
  value = module.rejected_events.bucket.name
}

output "invoked_arn" {
  value = module.function.invoked_arn
}
