terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
      # The producer's account, through the hand-over role: one password and the acceptance of endpoints.
      configuration_aliases = [aws.producer]
    }
  }
}
