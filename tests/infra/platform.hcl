# The platform of the cases of extensions: what the consumer's root puts out (test_extensions.py compares the two).
locals {
  platform = {
    account_id           = "222222222222"
    deploy_role_arn      = "arn:aws:iam::222222222222:role/deploy"
    partition            = "aws"
    permissions_boundary = "arn:aws:iam::222222222222:policy/boundary"
    prefix               = "penstock-analytics"
    region               = "eu-central-1"

    alarms  = { topic_arn = "arn:aws:sns:eu-central-1:222222222222:penstock-analytics-alarms" }
    brokers = {
      bootstrap_servers = "b-1.example.com:9096"
      group_prefix      = "analytics-"
      logins = { for name in ["clients", "films", "functions", "jobs", "service-a", "service-b"] : name => {
        group_prefix  = name == "functions" ? "analytics-penstock-analytics-consumer" : "analytics-${name}-"
        read_password = jsonencode([{ Sid = "ReadItsPassword", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = ["arn:aws:secretsmanager:eu-central-1:222222222222:secret:penstock-analytics-${name}-broker-login-??????"] }])
        secret_arn    = "arn:aws:secretsmanager:eu-central-1:222222222222:secret:penstock-analytics-${name}-broker-login-AbCdEf"
        secret_name   = "penstock-analytics-${name}-broker-login"
        security      = "scram"
        topics        = name == "films" ? ["films.public.film", "films.public.film_actor"] : ["meter", "sensor"]
        transactions  = false
        writes        = ["meter"]
      } }
      servers           = "b-1.example.com:9096,b-2.example.com:9096"
      tls_servers       = ""
      topics            = ["meter", "sensor"]
    }
    functions = {
      architecture         = "arm64"
      names                = ["consumer"]
      packages             = "../../build"
      python_version       = "3.13"
      reserved_concurrency = 1
    }
    jobs = {
      application = {
        arn           = terraform_data.later.output
        bucket        = { arn = "arn:aws:s3:::artifacts", name = "artifacts" }
        configuration = { "spark.executorEnv.PYTHONPATH" = "./packages" }
        files         = { "contract.json" = "s3://artifacts/files/contract.json" }
        id            = terraform_data.later.output
        log_group     = "/aws/emr-serverless/penstock-analytics-spark"
        maximum       = { cpu = "32 vCPU", memory = "128 GB" }
        name          = "penstock-analytics-spark"
        submission    = "--py-files s3://artifacts/pyfiles/penstock.zip"
      }
      artifacts = {
        archives      = { packages = "s3://artifacts/archives/packages.zip" }
        archives_hash = "0123456789abcdef"
        configuration = { "spark.sql.session.timeZone" = "UTC" }
        files         = { "contract.json" = "s3://artifacts/files/contract.json" }
        jars          = ["s3://artifacts/jars/iceberg.jar"]
        programs      = { consume = "s3://artifacts/jobs/consume.py" }
        pyfiles       = "s3://artifacts/pyfiles/penstock.zip"
      }
      artifacts_bucket = { arn = "arn:aws:s3:::artifacts", name = "artifacts" }
      named = {
        consume = {
          lake     = { database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
          plan     = []
          policies = { for role in ["consume", "consume-maintain"] : role => jsonencode({ Version = "2012-10-17", Statement = local.statements.use_lake_key }) }
          runs = {
            consume         = { arguments = ["--contract", "s3://artifacts/files/contract.json"], program = "s3://artifacts/jobs/consume.py", role = "consume", schedule = null, streaming = true, workers = null }
            consume-maintain = { arguments = [], program = "s3://artifacts/jobs/maintain_lake.py", role = "consume-maintain", schedule = "rate(1 day)", streaming = false, workers = null }
          }
        }
      }
      programs = "../../jobs"
      retries  = ["penstock-analytics-retry-shop"]
    }
    lake = {
      bucket         = { arn = "arn:aws:s3:::penstock-analytics-lake", name = "penstock-analytics-lake" }
      database       = { arn = "arn:aws:glue:eu-central-1:222222222222:database/penstock_analytics_lake", name = "penstock_analytics_lake" }
      folders        = ["plain", "tables"]
      key_arn        = "arn:aws:kms:eu-central-1:222222222222:key/1234abcd-0000-4000-8000-000000000000"
      parked_bucket  = { arn = "arn:aws:s3:::parked", name = "parked" }
      parked_records = "penstock_analytics_lake.parked_records"
      plain_folders  = ["plain/orders", "plain/readings"]
      principals = {
        consume          = { arn = terraform_data.later.output, database = ["CREATE_TABLE", "DESCRIBE"], tables = ["ALTER", "DESCRIBE", "INSERT", "SELECT"] }
        consume-maintain = { arn = "arn:aws:iam::222222222222:role/maintain", database = [], tables = ["ALTER", "DESCRIBE"] }
      }
      query_limit_bytes = 10737418240
      tables = {
        customers = { beside = [], errors = local.errors["shop"], staged = true }
        orders    = { beside = ["readings"], errors = local.errors["consume"], staged = false }
        readings  = { beside = ["orders"], errors = local.errors["consume"], staged = false }
      }
      workgroup = "penstock-analytics-lake"
    }
    network = {
      egress = {
        brokers   = { port = 9094, to_port = 9096, security_group_id = "sg-0123456789abcdef1" }
        dynamodb  = { port = 443, prefix_list_id = "pl-0123456789abcdef1" }
        endpoints = { port = 443, security_group_id = "sg-0123456789abcdef2" }
        s3        = { port = 443, prefix_list_id = "pl-0123456789abcdef2" }
      }
      emr_buckets         = true
      endpoint_policy     = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = "*", Action = "*", Resource = "*" }] })
      interface_endpoints = ["ecr.api", "ecr.dkr", "glue", "logs", "ssm", "sts"]
      subnet_ids          = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
      vpc_id              = "vpc-0123456789abcdef0"
    }
    registry  = { backups = "s3://backups/events.jsonl", has_others = true, urls = "glue://penstock?region=eu-central-1" }
    retention = { deletion_protection = false, force_destroy = true, key_deletion_days = 7, log_days = 7, secret_recovery_days = 0, settled_days = 30 }
    statements = { for name, statements in local.statements : name => jsonencode(statements) }
    store = {
      errors   = { errors = local.errors["consume"], films-errors = local.errors["films"], shop-errors = local.errors["shop"] }
      readings = { for table in ["approvals", "customers", "readings", "shop_waiting"] : table => { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-${table}", name = "penstock-analytics-${table}" } }
      leases   = { arn = "arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-function_leases", name = "penstock-analytics-function_leases" }
    }
  }
  statements = {
    hold_lease = [
      { Sid = "HoldItsLease", Effect = "Allow", Action = ["dynamodb:UpdateItem"], Resource = ["arn:aws:dynamodb:eu-central-1:222222222222:table/penstock-analytics-function_leases"] },
    ]
    read_backups = [
      { Sid = "ReadBackupsOfRegistries", Effect = "Allow", Action = ["s3:GetObject"], Resource = ["arn:aws:s3:::backups/events.jsonl"] },
    ]
    read_registry_secrets = [
      { Sid = "ReadSecretsOfRegistries", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = ["arn:aws:secretsmanager:eu-central-1:222222222222:secret:registry-AbCdEf"] },
    ]
    read_schemas = [
      { Sid = "ReadSchemasOfTheProducer", Effect = "Allow", Action = ["sts:AssumeRole"], Resource = ["arn:aws:iam::111111111111:role/penstock-analytics-reader"] },
    ]
    see_lake = [
      { Sid = "SeeTheLakesObjects", Effect = "Allow", Action = ["s3:ListBucket"], Resource = ["arn:aws:s3:::penstock-analytics-lake"] },
    ]
    use_lake_key = [
      { Sid = "UseTheKeyOfTheLake", Effect = "Allow", Action = ["kms:Decrypt", "kms:GenerateDataKey"], Resource = ["arn:aws:kms:eu-central-1:222222222222:key/*"] },
    ]
  }
  errors = { for job in ["consume", "films", "shop"] : job => {
    arn       = "arn:aws:dynamodb:eu-central-1:222222222222:table/${job}-errors"
    due_index = "due"
    name      = "${job}-errors"
  } }
}

output "platform" {
  value     = local.platform
  sensitive = true
}
