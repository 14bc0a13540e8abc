terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
      # The producer account, through the hand-over role: it reads one password and accepts endpoints.
      configuration_aliases = [aws.producer]
    }
  }
}
