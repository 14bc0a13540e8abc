# Topics and access lists are applied inside the VPC, by a function that Terraform invokes.

locals {
  # By user: all users of a reader have the same access lists.
  users = merge([
    for reader in values(var.readers) : {
      for username in reader.usernames : username => { for key, value in reader : key => value if !contains(["functions_of", "usernames"], key) }
    }
  ]...)
  wanted = {
    readers = local.users
    topics  = var.topics
  }
}

# The wanted topics and readers. Each change is a new invocation (CREATE_ONLY): the provider stores the
# input of an update that failed, so the next plan would be empty. A creation that failed is not
# stored, and the next apply retries it (docs/adr/0028-topics-by-invocation.md).
resource "aws_lambda_invocation" "wanted" {
  function_name = module.function.name

  input           = jsonencode({ wanted = local.wanted })
  lifecycle_scope = "CREATE_ONLY"
  triggers        = { cluster = var.cluster.arn }

  # Nothing is granted before the invocation that removes it exists.
  depends_on = [aws_lambda_invocation.reader, aws_lambda_invocation.topic]
}

# Removes a user's access lists when the user is removed.
resource "aws_lambda_invocation" "reader" {
  for_each = local.users

  function_name = module.function.name

  input           = jsonencode({ reader = { username = each.key } })
  lifecycle_scope = "CRUD"
}

# Deletes a topic when it is removed, if delete_removed_topics is set.
resource "aws_lambda_invocation" "topic" {
  for_each = var.topics

  function_name = module.function.name

  input           = jsonencode({ topic = { name = each.key, delete_when_removed = var.delete_removed_topics } })
  lifecycle_scope = "CRUD"

  # Readers are known once the brokers admit the function, so it is admitted until the topics are deleted.
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
  # For a cluster with many topics: the function waits until all brokers know each topic.
  timeout_seconds = 300

  permissions_boundary = var.permissions_boundary
}
