# The longest names that are taken, in a region with the longest name: AWS's limits are judged while planning.
account_id = "111111111111"
prefix     = "acme-data-platform-kafka"
region     = "ap-southeast-1"
clients = {
  audit = { access_lists = "read", security_group_id = "sg-0123456789abcdef1", reads = ["meter", "sensor"], transactions = true, writes = ["meter", "sensor"] }
  shell = { access_lists = "change", host = { instance_type = "t4g.micro" } }
}
cluster = {
  broker_count            = 6
  certificate_authorities = ["arn:aws:acm-pca:ap-southeast-1:111111111111:certificate-authority/01234567-89ab-cdef-0123-456789abcdef"]
  instance_type           = "kafka.m7g.xlarge"
  kafka_version           = "4.0.x.kraft"
  max_volume_gib          = 2000
  properties              = { "log.retention.hours" = "72" }
  volume_gib              = 500
}
consumers = [
  {
    name       = "fraud-detection"
    account_id = "222222222222"
    topics     = ["invoice", "meter", "order", "sensor"]
    writes     = ["meter"]
    registries = [
      {
        secret_arn        = "arn:aws:secretsmanager:ap-southeast-1:222222222222:secret:registry-AbCdEf"
        security_group_id = "sg-0123456789abcdef2"
        url               = "confluent+https://reader@schemas.example.com/ccompat?naming=record"
      },
      { url = "apicurio+http://10.9.0.7:8080" },
    ]
  },
  {
    name              = "billing"
    account_id        = "333333333333"
    topics            = ["sensor"]
    deploy_role_arn   = "arn:aws:iam::333333333333:role/terraform/deploy"
    external_id       = "billing-at-acme"
    group_prefix      = "invoices-"
    programs = {
      audit          = { rotation = 4, transactions = true, writes = ["meter"] }
      consumer-sales = {}
      ledger         = { certificate = "CN=ledger,OU=billing,O=Acme Ltd", topics = ["sensor"], writes = [] }
      export         = { group_prefix = "invoices-out-", topics = [], writes = [] }
    }
    reader_role_names = ["invoices"]
    rotation          = 3
    writes            = ["meter", "sensor"]
  },
]
deploy_role_arn = "arn:aws:iam::111111111111:role/deploy"
exposure        = { acceptance_required = false }
functions       = { architecture = "x86_64", memory_mib = 1024, packages = "../../build", python_version = "3.12" }
jobs = {
  sales = { commands = ["enrich", "seed"], parameters = { output_topic = "order" }, reads = ["sensor"], trigger = "1 minute", writes = ["order"] }
  totals = {
    commands = ["summarize", "totals"]
    reads    = ["meter", "sensor"]
    trigger  = "available-now"
    workers  = { driver = { cores = 2 }, max_executors = 2 }
  }
}
network = {
  cidr        = "10.2.0.0/16"
  zone_ids    = ["apse1-az1", "apse1-az2", "apse1-az3"]
  other_cidrs = ["10.1.0.0/16", "192.168.0.0/24"]
}
permissions_boundary = "arn:aws:iam::111111111111:policy/company/boundary"
tags                 = { cost-centre = "4711", "acme:owner" = "data platform" }
retention            = { delete_removed_topics = true, force_destroy = true, key_deletion_days = 7, log_days = 7, secret_recovery_days = 0 }
registry             = "events"
producers = {
  invoices = {
    compatibility = "FULL"
    mode          = "upsert"
    topic         = "invoice"
    registry = {
      cidr       = "10.8.0.0/24"
      secret_arn = "arn:aws:secretsmanager:ap-southeast-1:111111111111:secret:registry-GhIjKl"
      url        = "confluent+https://schemas.example.com/ccompat"
    }
  }
  meters   = { topic = "meter", compatibility = "FULL_ALL", device_id = "000007", event_time = "none", key = ["site", "meter"], memory_mib = 256, numbers = "decimal", policy = "exact", schema = "acme.meter", snap_start = true, times = "timestamp-micros", version_budget = 20 }
  orders   = { topic = "order", key = ["site", "item"], mode = "upsert", order = ["revision", "at"], sort = ["currency", "day"], registry = { url = "apicurio+http://10.9.0.7:8080" } }
  producer = { topic = "sensor", version_budget = 50 }
}
test_events = { create_registry = false, events = { Meter = "{\"site\": \"a\"}" } }
spark = {
  application = { idle_minutes = 5 }
  cluster     = { concurrent_steps = 3, core_nodes = 1, jobs = ["totals"] }
}
subscribers = ["platform@example.com"]
topics      = { invoice = { unframed = "confluent:17" }, order = {}, meter = { partitions = 12, properties = { "retention.ms" = "86400000" }, replicas = 3 }, sensor = {} }
