# Role and log group have the function's name, so each can be found from the others.
locals {
  # Each has a configuration of its own for asynchronous invocations.
  qualifiers = var.dead_letters == null ? [] : var.package.snap_start ? ["$LATEST", "live"] : ["$LATEST"]

  python_versions = jsondecode(file("${path.module}/../releases.json")).lambda
}

resource "aws_lambda_function" "this" {
  # checkov:skip=CKV_AWS_173: the variables hold names and ARNs, no secret; Lambda's own key encrypts them
  # checkov:skip=CKV_AWS_272: the zip is made and applied by one and the same run, there is no step between to sign for
  # checkov:skip=CKV_AWS_115: what is behind it (Kafka, Glue) sets the limit; reserved_concurrency is there for accounts with other functions
  # checkov:skip=CKV_AWS_116: dead_letters adds a queue where a function is called asynchronously; a mapping from Kafka and Terraform call synchronously
  function_name = var.name
  description   = var.description
  role          = aws_iam_role.this.arn

  architectures                  = [var.package.architecture]
  filename                       = var.package.path
  handler                        = "handler.lambda_handler"
  memory_size                    = var.memory_mib
  publish                        = var.package.snap_start
  reserved_concurrent_executions = coalesce(var.reserved_concurrency, -1)
  runtime                        = "python${var.package.python_version}"
  source_code_hash               = filebase64sha256(var.package.path)
  timeout                        = var.timeout_seconds

  dynamic "dead_letter_config" {
    for_each = aws_sqs_queue.dead_letters

    content {
      target_arn = dead_letter_config.value.arn
    }
  }

  environment {
    variables = var.environment
  }

  # Lambda has snapshots of published versions only.
  dynamic "snap_start" {
    for_each = var.package.snap_start ? ["PublishedVersions"] : []

    content {
      apply_on = snap_start.value
    }
  }

  tracing_config {
    mode = var.tracing ? "Active" : "PassThrough"
  }

  vpc_config {
    security_group_ids = [aws_security_group.this.id]
    subnet_ids         = var.network.subnet_ids
  }

  # Lambda rejects a function whose role may not create a network interface yet, and creates a log
  # group without retention for a function that runs too early. Its code runs for a snapshot at once.
  depends_on = [
    aws_cloudwatch_log_group.this,
    aws_iam_role_policy.runtime,
    aws_iam_role_policy.work,
    aws_vpc_security_group_egress_rule.this,
    module.long_policy,
  ]
}

# Whoever invokes the function by it gets the version of the last apply, which has a snapshot.
resource "aws_lambda_alias" "live" {
  count = var.package.snap_start ? 1 : 0

  name             = "live"
  description      = "The version of the last apply"
  function_name    = aws_lambda_function.this.function_name
  function_version = aws_lambda_function.this.version
}

# Created before the function, whose role may not create one: Lambda's own log group never expires.
resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_158: CloudWatch encrypts it with its own key; logs hold offsets and ids, no payloads
  # checkov:skip=CKV_AWS_338: a year unless the caller says otherwise
  name              = "/aws/lambda/${var.name}"
  retention_in_days = var.log_days
}

# ---------------------------------------------------------------------------------------------
# Events of asynchronous invocations that failed three times
# ---------------------------------------------------------------------------------------------

resource "aws_sqs_queue" "dead_letters" {
  count = var.dead_letters == null ? 0 : 1

  name                      = "${var.name}-dead-letters"
  message_retention_seconds = 1209600 # 14 days, SQS's maximum
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "dead_letters" {
  count = var.dead_letters == null ? 0 : 1

  queue_url = aws_sqs_queue.dead_letters[0].url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OverTlsOnly"
      Effect    = "Deny"
      Principal = "*"
      Action    = "sqs:*"
      Resource  = local.dead_letters_arn
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

# The queue takes messages of 256 KiB, and an event may have 1 MiB: Lambda sends it to both.
resource "aws_lambda_function_event_invoke_config" "this" {
  for_each = toset(local.qualifiers)

  function_name = aws_lambda_function.this.function_name
  qualifier     = each.key

  destination_config {
    on_failure {
      destination = var.dead_letters.bucket_arn
    }
  }

  depends_on = [aws_lambda_alias.live]
}

# ---------------------------------------------------------------------------------------------
# Network: no ingress, and egress only as named
# ---------------------------------------------------------------------------------------------

resource "aws_security_group" "this" {
  name        = var.name
  description = "The function ${var.name}: no way in, ways out by name"
  vpc_id      = var.network.vpc_id

  tags = { Name = var.name }

  # At destroy, Lambda deletes its network interfaces after the function, with the function's role.
  # Without the role's permissions the interfaces would stay, and the group could not be deleted.
  depends_on = [aws_iam_role_policy.runtime]
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each = var.network.egress

  security_group_id            = aws_security_group.this.id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = coalesce(each.value.to_port, each.value.port)
  cidr_ipv4                    = each.value.cidr
  prefix_list_id               = each.value.prefix_list_id
  referenced_security_group_id = each.value.security_group_id

  tags = { Name = "${var.name}-${each.key}" }
}
