# Topics and access lists are made inside the VPC, by a function that Terraform calls.

locals {
  wanted = {
    readers = var.readers
    topics  = var.topics
  }
}

# What is to be there. Each change is a new invocation (CREATE_ONLY), for the provider keeps the
# input of an update that failed, and the next plan would be empty: a creation that failed is not
# kept, so the next apply tries again (docs/adr/20261121-topics-and-access-lists.md).
resource "aws_lambda_invocation" "wanted" {
  function_name = module.function.name

  input           = jsonencode({ wanted = local.wanted })
  lifecycle_scope = "CREATE_ONLY"
  triggers        = { cluster = var.cluster.arn }

  # Nothing is granted before it is known who takes it away.
  depends_on = [aws_lambda_invocation.reader, aws_lambda_invocation.topic]
}

# What goes when a reader does: its access lists.
resource "aws_lambda_invocation" "reader" {
  for_each = var.readers

  function_name = module.function.name

  input           = jsonencode({ reader = { username = each.value.username } })
  lifecycle_scope = "CRUD"
}

# What goes when a topic does: the topic, if that is wanted.
resource "aws_lambda_invocation" "topic" {
  for_each = var.topics

  function_name = module.function.name

  input           = jsonencode({ topic = { name = each.key, delete_when_removed = var.delete_removed_topics } })
  lifecycle_scope = "CRUD"

  # The readers are known once the brokers let the function in, which so lasts until topics are gone.
  depends_on = [var.readers]
}

module "function" {
  source = "../lambda-function"

  name        = "${var.prefix}-access"
  account_id  = var.account_id
  region      = var.region
  description = "Makes topics and access lists as Terraform says"
  environment = {
    KAFKA_BOOTSTRAP_SERVERS = var.cluster.bootstrap_servers
    KAFKA_SECURITY          = "iam"
  }
  log_days = var.log_days
  network = {
    vpc_id     = var.network.vpc_id
    subnet_ids = var.network.subnet_ids
    egress     = { brokers = { port = 9098, security_group_id = var.cluster.security_group_id } }
  }
  package     = var.package
  policy_json = local.policy
  # A cluster of many topics: each is waited for until all brokers know it.
  timeout_seconds = 300
}
