# The role of each service, on Fargate and in EKS, and the role with which ECS starts its tasks.
locals {
  _partition     = var.platform.partition
  _place         = "${var.platform.region}:${var.platform.account_id}"
  _repositories  = sort(distinct([for service in values(var.services) : regex("^[^/]+/([^:@]+)", service.image)[0]]))
  _parameter_arn = "arn:${local._partition}:ssm:${local._place}:parameter${var.brokers_parameter}"

  _from_ecs = {
    Sid       = "Tasks"
    Effect    = "Allow"
    Principal = { Service = "ecs-tasks.amazonaws.com" }
    Action    = "sts:AssumeRole"
    Condition = { StringEquals = { "aws:SourceAccount" = var.platform.account_id } }
  }
  start_trust = jsonencode({ Version = "2012-10-17", Statement = [local._from_ecs] })
  trusts = {
    for name in keys(var.services) : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat([local._from_ecs], [
        for eks in var.eks[*] : {
          Sid       = "PodsOfItsServiceAccount"
          Effect    = "Allow"
          Principal = { Federated = "arn:${local._partition}:iam::${var.platform.account_id}:oidc-provider/${eks.issuer}" }
          Action    = "sts:AssumeRoleWithWebIdentity"
          Condition = { StringEquals = {
            "${eks.issuer}:aud" = "sts.amazonaws.com"
            "${eks.issuer}:sub" = "system:serviceaccount:${eks.namespace}:${name}"
          } }
        }
      ])
    })
  }
  policies = {
    for name, login in local._logins : name => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        jsondecode(login.read_password),
        jsondecode(var.platform.statements.read_schemas),
        [{ Sid = "ReadTheBrokers", Effect = "Allow", Action = ["ssm:GetParameter"], Resource = [local._parameter_arn] }],
      )
    })
  }
  start_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "LogInToTheRegistryOfImages", Effect = "Allow", Action = ["ecr:GetAuthorizationToken"], Resource = ["*"] },
      {
        Sid      = "PullImages"
        Effect   = "Allow"
        Action   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
        Resource = [for name in local._repositories : "arn:${local._partition}:ecr:${local._place}:repository/${name}"]
      },
      {
        Sid      = "WriteLogs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = [for name in values(local.names) : "arn:${local._partition}:logs:${local._place}:log-group:/ecs/${name}:*"]
      },
      { Sid = "ReadTheBrokers", Effect = "Allow", Action = ["ssm:GetParameters"], Resource = [local._parameter_arn] },
    ]
  })
}

# Of a name that the reader role of the producer's account trusts.
resource "aws_iam_role" "task" {
  for_each = var.services

  name               = "${var.platform.prefix}-client-${each.key}"
  description        = "The service ${each.key}"
  assume_role_policy = local.trusts[each.key]

  permissions_boundary = var.platform.permissions_boundary
}

resource "aws_iam_role_policy" "task" {
  for_each = var.services

  name   = "service"
  role   = aws_iam_role.task[each.key].name
  policy = local.policies[each.key]
}

resource "aws_iam_role" "execution" {
  name               = "${var.platform.prefix}-service-start"
  description        = "Starts the tasks of services: image, log, addresses of the brokers"
  assume_role_policy = local.start_trust

  permissions_boundary = var.platform.permissions_boundary
}

resource "aws_iam_role_policy" "execution" {
  # checkov:skip=CKV_AWS_355: ECR allows no resource for the login
  name   = "start"
  role   = aws_iam_role.execution.name
  policy = local.start_policy
}
