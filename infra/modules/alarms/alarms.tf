# What is watched. A metric that says nothing is fine where it counts events, and a fault where
# something must always report.
locals {
  broker_ids = toset([for id in range(1, coalesce(try(var.cluster.broker_count, null), 0) + 1) : tostring(id)])

  _broker_disk = {
    for id in local.broker_ids : "broker-${id}-disk" => {
      description = "The volume of broker ${id} of ${var.cluster.name} is more than 85 % full; raise max_volume_gib, or keep topics for a shorter time, before it takes no more records."
      namespace   = "AWS/Kafka", metric = "KafkaDataLogsDiskUsed", statistic = "Maximum"
      dimensions  = { "Broker ID" = id, "Cluster Name" = var.cluster.name }
      comparison  = "GreaterThanThreshold", threshold = 85
      minutes     = 5, periods = 3, missing = "missing"
    }
  }

  _cluster = length(local.broker_ids) == 0 ? {} : {
    "active-controller" = {
      description = "${var.cluster.name} has no active controller: no topic, no leader and no ACL changes; look at the cluster's state in MSK, and open a case with AWS when it does not come back by itself."
      namespace   = "AWS/Kafka", metric = "ActiveControllerCount", statistic = "Maximum"
      dimensions  = { "Cluster Name" = var.cluster.name }
      comparison  = "LessThanThreshold", threshold = 1
      minutes     = 5, periods = 3, missing = "breaching"
    }
    "offline-partitions" = {
      description = "Partitions of ${var.cluster.name} have no leader and can be neither read nor written; see which brokers are down, and wait for their return before changing anything."
      namespace   = "AWS/Kafka", metric = "OfflinePartitionsCount", statistic = "Maximum"
      dimensions  = { "Cluster Name" = var.cluster.name }
      comparison  = "GreaterThanThreshold", threshold = 0
      minutes     = 5, periods = 1, missing = "missing"
    }
  }

  _targets = {
    for id, balancer in var.load_balancers : "broker-${id}-target" => {
      description = "The load balancer before broker ${id} does not reach it, so no consumer does; compare its target's address with the broker's, and the security groups on 9096."
      namespace   = "AWS/NetworkELB", metric = "HealthyHostCount", statistic = "Maximum"
      dimensions  = { LoadBalancer = balancer.arn_suffix, TargetGroup = balancer.target_group_arn_suffix }
      comparison  = "LessThanThreshold", threshold = 1
      minutes     = 1, periods = 3, missing = "breaching"
    }
  }

  # Silent without traffic. How many endpoints there should be is the consumers' business.
  _connections = {
    for id, service_id in var.endpoint_services : "broker-${id}-connections" => {
      description = "Consumers' connections to broker ${id} through ${service_id} are being reset; look at its target first, then at the broker's connection limits."
      namespace   = "AWS/PrivateLinkServices", metric = "RstPacketsSent", statistic = "Sum"
      dimensions  = { "Service Id" = service_id }
      comparison  = "GreaterThanThreshold", threshold = 100
      minutes     = 5, periods = 3, missing = "notBreaching"
    }
  }

  _function_errors = {
    for name in var.functions : "${trimprefix(name, "${var.prefix}-")}-errors" => {
      description = "The function ${name} ended with an error; read /aws/lambda/${name}, mend the cause, then send again what was lost."
      namespace   = "AWS/Lambda", metric = "Errors", statistic = "Sum"
      dimensions  = { FunctionName = name }
      comparison  = "GreaterThanThreshold", threshold = 0
      minutes     = 5, periods = 1, missing = "notBreaching"
    }
  }

  _function_throttles = {
    for name in var.functions : "${trimprefix(name, "${var.prefix}-")}-throttles" => {
      description = "Calls of the function ${name} were turned away; raise its reserved_concurrency, or the account's limit."
      namespace   = "AWS/Lambda", metric = "Throttles", statistic = "Sum"
      dimensions  = { FunctionName = name }
      comparison  = "GreaterThanThreshold", threshold = 0
      minutes     = 5, periods = 3, missing = "notBreaching"
    }
  }

  _dead_letters = {
    for name in var.dead_letter_queues : "${trimprefix(name, "${var.prefix}-")}-depth" => {
      description = "Events wait in ${name} that their function failed on three times; read its log, mend the cause, then send them again before the queue forgets them."
      namespace   = "AWS/SQS", metric = "ApproximateNumberOfMessagesVisible", statistic = "Maximum"
      dimensions  = { QueueName = name }
      comparison  = "GreaterThanThreshold", threshold = 0
      minutes     = 5, periods = 1, missing = "notBreaching"
    }
  }

  _schema_versions = var.schema_versions == null ? {} : {
    "schema-versions" = {
      description = "A schema has used 80 % of its budget of ${var.schema_versions.budget} versions, after which new shapes of events are rejected; find the field that keeps changing, or raise the budget."
      namespace   = var.schema_versions.namespace, metric = var.schema_versions.metric, statistic = "Maximum"
      dimensions  = var.schema_versions.dimensions
      comparison  = "GreaterThanOrEqualToThreshold", threshold = floor(var.schema_versions.budget * 0.8)
      minutes     = 5, periods = 1, missing = "notBreaching"
    }
  }

  alarms = merge(
    local._broker_disk,
    local._cluster,
    local._targets,
    local._connections,
    local._function_errors,
    local._function_throttles,
    local._dead_letters,
    local._schema_versions,
  )
}
