# What passes an endpoint: the account's principals on the account's resources, and the exceptions named here. Code with
# foreign credentials, or with rows for a foreign bucket, is refused on its way out. Those of an existing VPC have none, which
# would bind its other workloads: the private names of the endpoints lead them here too.
locals {
  _place     = "${var.region}:${var.account_id}"
  _own_roles = "arn:${local._partition}:iam::${var.account_id}:role/*"
  own_account = [{
    Sid       = "OwnPrincipalsOnOwnResources"
    Effect    = "Allow"
    Principal = "*"
    Action    = "*"
    Resource  = "*"
    Condition = { StringEquals = {
      "aws:PrincipalAccount" = var.account_id
      "aws:ResourceAccount"  = var.account_id
    } }
  }]
  # EMR Management Guide, "Sample policies for private subnets that access Amazon S3", for EMR Spark 8.
  _instance_data = "aws157-instance-data${var.region == "ap-southeast-2" ? "-bucket" : ""}"
  _emr_buckets = {
    logs = var.region == "us-east-1" ? "aws157-logs-prod" : "aws157-logs-prod-${var.region}"
    packages = concat(
      ["al2023-repos-${var.region}-de612dc2", "repo.${var.region}.emr.amazonaws.com"],
      [for number in [0, 1] : "${local._instance_data}-${number}-prod-${var.region}"],
    )
  }
  _exceptions = {
    glue = [{
      # A version is requested by its id, which names no resource and so no account. Programs that write find it by its
      # definition or in the list of the schema, and people look at schemas, in the account of the foreign role.
      Sid       = "SchemaVersions"
      Effect    = "Allow"
      Principal = "*"
      Action    = ["glue:GetSchema", "glue:GetSchemaByDefinition", "glue:GetSchemaVersion", "glue:GetTags", "glue:ListSchemaVersions", "glue:ListSchemas"]
      Resource  = "*"
      Condition = { ArnLike = { "aws:PrincipalArn" = concat([local._own_roles], var.foreign_roles) } }
    }]
    # The pollers of event source mappings call these three as Lambda.
    lambda = [{
      Sid       = "Pollers"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "lambda:InvokeFunction"
      Resource  = "arn:${local._partition}:lambda:${local._place}:function:*"
    }]
    secretsmanager = [{
      Sid       = "Pollers"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "secretsmanager:GetSecretValue"
      Resource  = "arn:${local._partition}:secretsmanager:${local._place}:secret:*"
    }]
    sts = [
      {
        Sid       = "Pollers"
        Effect    = "Allow"
        Principal = { Service = "lambda.amazonaws.com" }
        Action    = "sts:AssumeRole"
        Resource  = local._own_roles
      },
      {
        Sid       = "OwnAndNamedRoles"
        Effect    = "Allow"
        Principal = "*"
        Action    = "sts:AssumeRole"
        Resource  = concat([local._own_roles], var.foreign_roles)
        Condition = { StringEquals = { "aws:PrincipalAccount" = var.account_id } }
      },
    ]
    # The channels of sessions are no resources of any account.
    ssmmessages = [{
      Sid       = "SessionsOfOwnInstances"
      Effect    = "Allow"
      Principal = "*"
      Action    = ["ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel", "ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel"]
      Resource  = "*"
      Condition = { ArnLike = { "aws:PrincipalArn" = local._own_roles } }
    }]
    s3 = concat([{
      # EMR Serverless keeps what the Spark UI shows in a bucket of its own.
      Sid       = "SparkUiOfEmrServerless"
      Effect    = "Allow"
      Principal = "*"
      Action    = ["s3:PutObject", "s3:PutObjectAcl"]
      Resource  = "arn:${local._partition}:s3:::prod.${var.region}.appinfo.src/*"
      Condition = { StringEquals = { "aws:PrincipalServiceName" = "emr-serverless.amazonaws.com" } }
      }],
      [for read in [
        # An instance with sessions installs its packages from a bucket of Amazon Linux.
        { endpoint = "ssmmessages", sid = "PackagesOfAmazonLinux", bucket = "al2023-repos-${var.region}-de612dc2" },
        # ECR keeps the layers of images in a bucket of its own.
        { endpoint = "ecr.dkr", sid = "LayersOfImages", bucket = "prod-${var.region}-starport-layer-bucket" },
        ] : {
        Sid       = read.sid
        Effect    = "Allow"
        Principal = "*"
        Action    = "s3:GetObject"
        Resource  = "arn:${local._partition}:s3:::${read.bucket}/*"
      } if contains(var.interface_endpoints, read.endpoint)],
      [for statement in [
        {
          Sid       = "PackagesOfEmr"
          Effect    = "Allow"
          Principal = "*"
          Action    = ["s3:GetObject"]
          Resource  = [for bucket in local._emr_buckets.packages : "arn:${local._partition}:s3:::${bucket}/*"]
        },
        {
          Sid       = "LogsOfEmr"
          Effect    = "Allow"
          Principal = "*"
          Action    = ["s3:Put*"]
          Resource  = ["arn:${local._partition}:s3:::${local._emr_buckets.logs}/*"]
        },
        {
          Sid       = "SparkUiOfEmr"
          Effect    = "Allow"
          Principal = "*"
          Action    = ["s3:Abort*", "s3:Create*", "s3:Get*", "s3:List*", "s3:Put*"]
          Resource  = ["arn:${local._partition}:s3:::prod.${var.region}.appinfo.src/*"]
        },
      ] : statement if var.emr_buckets],
    )
  }
  endpoint_policies = {
    for name in setunion(var.gateway_endpoints, var.interface_endpoints) : name => local.make ? jsonencode({
      Version   = "2012-10-17"
      Statement = concat(local.own_account, try(local._exceptions[name], []))
    }) : null
  }
}
