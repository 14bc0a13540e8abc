locals {
  response_types = var.provisioned == null ? null : ["ReportBatchItemFailures"]
}

# One mapping for each topic: a poller that is stuck on a topic does not block the other topics.

resource "aws_lambda_event_source_mapping" "this" {
  for_each = var.topics

  function_name = var.function.arn

  batch_size                         = var.batching.size
  maximum_batching_window_in_seconds = var.batching.window_seconds
  starting_position                  = "TRIM_HORIZON"
  topics                             = [each.key]

  # Lambda accepts these in provisioned mode only.
  bisect_batch_on_function_error = var.provisioned == null ? null : true
  function_response_types        = local.response_types
  maximum_retry_attempts         = var.provisioned == null ? null : -1

  # With a destination, pollers give a batch up after eleven tries, which an outage outlasts.
  dynamic "destination_config" {
    for_each = var.failure_bucket_arn[*]

    content {
      on_failure {
        destination_arn = destination_config.value
      }
    }
  }

  dynamic "provisioned_poller_config" {
    for_each = var.provisioned[*]

    content {
      minimum_pollers = provisioned_poller_config.value.minimum_pollers
      maximum_pollers = provisioned_poller_config.value.maximum_pollers
    }
  }

  self_managed_event_source {
    endpoints = { KAFKA_BOOTSTRAP_SERVERS = var.bootstrap_servers }
  }

  # Under the reader's prefix, which its access list covers.
  self_managed_kafka_event_source_config {
    consumer_group_id = "${var.group_prefix}${var.function.name}-${each.key}"
  }

  source_access_configuration {
    type = "SASL_SCRAM_512_AUTH"
    uri  = var.secret.arn
  }

  source_access_configuration {
    type = "VPC_SECURITY_GROUP"
    uri  = "security_group:${var.network.security_group_id}"
  }

  dynamic "source_access_configuration" {
    for_each = toset(var.network.subnet_ids)

    content {
      type = "VPC_SUBNET"
      uri  = "subnet:${source_access_configuration.value}"
    }
  }

  # Lambda checks secret, destination and network when the mapping is created.
  depends_on = [aws_iam_role_policy.this]

  lifecycle {
    replace_triggered_by = [terraform_data.this]
  }
}

# Its change makes another mapping, which reads on at the offsets of its group. Terraform changes the function and its role
# after it has deleted a mapping, but before it changes one, which would then take answers in part for success, or give up
# batches that it may not write.
resource "terraform_data" "this" {
  input = { failure_bucket_arn = var.failure_bucket_arn, response_types = local.response_types }
}

# A mapping that is denied access is Enabled all the same; each plan and each apply warns of it.
check "reads" {
  assert {
    condition     = !anytrue([for mapping in aws_lambda_event_source_mapping.this : startswith(mapping.last_processing_result, "PROBLEM")])
    error_message = "The mappings of ${var.function.name} read nothing: ${jsonencode({ for topic, mapping in aws_lambda_event_source_mapping.this : topic => mapping.last_processing_result })}; see docs/operate/alarms.md#a-consumer-gets-nothing."
  }
}

# The pollers act with the function's role.
resource "aws_iam_role_policy" "this" {
  # checkov:skip=CKV_AWS_355: EC2 allows no resource for these actions
  name   = "mapping"
  role   = var.function.role_name
  policy = local.policy
}
