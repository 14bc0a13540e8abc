brokers_parameter = "/kafka/brokers"
cluster_arn       = "arn:aws:ecs:eu-central-1:222222222222:cluster/services"
eks               = { issuer = "oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF", namespace = "kafka" }
platform = merge(local.platform, { brokers = merge(local.platform.brokers, {
  logins      = merge(local.platform.brokers.logins, { service-b = merge(local.platform.brokers.logins.service-b, { security = "tls" }) })
  tls_servers = "b-1.example.com:9094,b-2.example.com:9094"
}) })
services = {
  service-a = {
    environment = { GROUP = "analytics-service-a-1", LOG_LEVEL = "debug", MSG_FREQ = "10", TOPIC1 = "foo-topic", TOPIC2 = "bar-topic" }
    image       = "222222222222.dkr.ecr.eu-central-1.amazonaws.com/kafka-demo-service:1"
    replicas    = 3
  }
  service-b = {
    architecture = "X86_64"
    cpu          = 512
    environment  = { GROUP = "analytics-service-b-1", LOG_LEVEL = "debug", MSG_FREQ = "10", TOPIC1 = "bar-topic", TOPIC2 = "foo-topic" }
    image        = "222222222222.dkr.ecr.eu-central-1.amazonaws.com/kafka-demo-service:1"
    memory_mib   = 1024
    replicas     = 3
  }
}
