# A role with the rights of a job with many tables, and a schedule of a function that is there.
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

variable "function" {
  type = object({ arn = string, name = string })
}

variable "tables" {
  type = number
}

resource "aws_iam_role" "job" {
  name = "many-tables"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "emr-serverless.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
}

module "rights" {
  source = "../modules/long-policy"

  role_name = aws_iam_role.job.name
  policies = { work = jsonencode({
    Version = "2012-10-17"
    Statement = [for action in ["dynamodb:PutItem", "glue:GetTable", "dynamodb:GetItem"] : {
      Sid      = replace(title(replace(action, ":", " ")), " ", "")
      Effect   = "Allow"
      Action   = [action]
      Resource = [for number in range(var.tables) : "arn:aws:${split(":", action)[0]}:eu-central-1:930000000002:table/penstock-analytics-table-${number}"]
    }]
  }) }
}

module "schedule" {
  source = "../modules/function-schedule"

  account_id = "930000000002"
  region     = "eu-central-1"
  function   = var.function
  name       = "many-tables"
  partition  = "aws"
}

output "policies" {
  value = module.rights.names
}
