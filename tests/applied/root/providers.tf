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
    tags = var.tags
  }
}

variable "tags" {
  type    = map(string)
  default = { project = "penstock" }
}

provider "aws" {
  alias      = "consumer"
  region     = "eu-central-1"
  access_key = "222222222222"
  secret_key = "any"
}
