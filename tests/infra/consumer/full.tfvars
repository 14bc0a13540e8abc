# The longest names that are taken, in a region with the longest name: AWS's limits are judged while planning.
account_id = "222222222222"
contract = {
  consumer            = "fraud-detection"
  producer_account_id = "111111111111"
  region              = "ap-southeast-1"
  exposure            = "privatelink"
  cluster = {
    arn       = "arn:aws:kafka:ap-southeast-1:111111111111:cluster/acme-data-platform-kafka-cluster/7a2b3c4d-0000-4000-8000-000000000000-2"
    name      = "acme-data-platform-kafka-cluster"
    zone_name = "acme-data-platform-kafka-cluster.abc123.c2.kafka.ap-southeast-1.amazonaws.com"
  }
  brokers = { for id in ["1", "2", "3"] : id => {
    host         = "b-${id}.acme-data-platform-kafka-cluster.abc123.c2.kafka.ap-southeast-1.amazonaws.com"
    port         = 9096
    service_id   = "vpce-svc-0123456789abcdef${id}"
    service_name = "com.amazonaws.vpce.ap-southeast-1.vpce-svc-0123456789abcdef${id}"
    zone_ids     = ["apse1-az1", "apse1-az2", "apse1-az3"]
  } }
  topics       = ["meter", "sensor"]
  writes       = ["meter"]
  group_prefix = "fraud-detection-"
  registry = {
    arn         = "arn:aws:glue:ap-southeast-1:111111111111:registry/events"
    external_id = "acme-data-platform-kafka/fraud-detection/222222222222"
    name        = "events"
    role_arn    = "arn:aws:iam::111111111111:role/acme-data-platform-kafka-fraud-detection-reader"
  }
  registries = [
    {
      port              = 443
      secret_arn        = "arn:aws:secretsmanager:ap-southeast-1:222222222222:secret:registry-AbCdEf"
      security_group_id = "sg-0123456789abcdef2"
      url               = "confluent+https://reader@schemas.example.com/ccompat?secret=arn%3Aaws%3Asecretsmanager%3Aap-southeast-1%3A222222222222%3Asecret%3Aregistry-AbCdEf"
    },
    { cidr = "10.9.0.7/32", port = 8080, url = "apicurio+http://10.9.0.7:8080" },
  ]
  unframed = { meter = "confluent:17", sensor = "0a1b2c3d-0000-4000-8000-000000000000" }
  # The role is there (tests/infra/conftest.py) and taken while planning; a known secret would be read.
  hand_over = {
    external_id = "of-the-contract"
    role_arn    = "arn:aws:iam::111111111111:role/hand-over"
  }
  programs = { for name in ["clients", "functions", "jobs"] : name => {
    group_prefix = "fraud-detection-${name == "functions" ? "penstock-fraud-detection-consumer" : "${name}-"}"
    rotation     = 4
    secret_arn   = terraform_data.later.output # a known one would be read while planning
    topics       = ["meter", "sensor"]
    usernames    = ["fraud-detection_${name}_a"]
    writes       = name == "functions" ? [] : ["meter"]
  } }
}
clients = {
  connect = { security_group_id = "sg-0123456789abcdef1" }
  shell   = { host = {} }
}
deploy_role_arn = "arn:aws:iam::222222222222:role/deploy"
functions       = { architecture = "x86_64", memory_mib = 1024, packages = "../../build", python_version = "3.12", reserved_concurrency = 1 }
jobs = {
  consume-telemetry = {
    arguments = {
      consume       = { max-offsets-per-trigger = 100000, on-lost-offsets = "go-on" }
      maintain_lake = { keep-hours = 240 }
      replay        = { dynamodb-rows-per-second = 100 }
    }
    checkpoint = "consume-2"
    schedules  = { consume = "rate(1 hour)", maintain_lake = "cron(0 3 * * ? *)", replay = "rate(1 day)" }
    trigger    = "available-now"
    writes     = { "sensor" = "readings", "shop.order" = "orders" }
  }
}
consumer_functions = {
  consumer-meter  = { memory_mib = 256, snap_start = true, table = "meters", topics = ["meter"] }
  consumer-sensor = {}
}
dead_letters_of = ["films"]
lake    = { parquet = { jobs = ["consume-telemetry"] }, query_limit_bytes = 10737418240 }
mapping = { batching = { size = 500, window_seconds = 2 }, lag_records = 500, park_failed_batches = true, provisioned = { minimum_pollers = 2, maximum_pollers = 8 } }
network = {
  cidr                = "10.1.0.0/16"
  emr_buckets         = true
  interface_endpoints = ["ssm"]
  zone_ids            = ["apse1-az2", "apse1-az3"]
  other_cidrs         = ["10.2.0.0/16"]
}
permissions_boundary = "arn:aws:iam::222222222222:policy/company/boundary"
tags                 = { cost-centre = "4711", part = "orders" }
registry_backups     = ["s3://fraud-backups/penstock/events.jsonl", "s3://fraud-backups/events-2025.jsonl"]
retention            = { deletion_protection = false, force_destroy = true, key_deletion_days = 7, log_days = 7, secret_recovery_days = 0 }
spark = {
  application = { architecture = "x86_64", idle_minutes = 5, maximum = { cpu = "32 vCPU", memory = "128 GB" } }
}
subscribers = ["fraud@example.com"]
tables = {
  meters   = { key = ["site", "meter"], key_name = "pk", sort_name = "none", event_time = "none", mode = "upsert", key_format = "avro", tombstone = "delete" }
  orders   = { event_time = "measured_at" }
  readings = { event_time = "measured_at" }
}
