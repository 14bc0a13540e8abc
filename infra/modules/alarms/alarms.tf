# Each alarm: what to do, and where it differs from the defaults of infra/modules/metric-alarms.
locals {
  broker_ids = toset([for id in range(1, coalesce(try(var.cluster.broker_count, null), 0) + 1) : tostring(id)])

  _broker_disk = {
    for id in local.broker_ids : "broker-${id}-disk" => {
      description = "The volume of broker ${id} of ${var.cluster.name} is more than 85 % full; raise max_volume_gib before it takes no more records."
      namespace   = "AWS/Kafka", metric = "KafkaDataLogsDiskUsed", statistic = "Maximum"
      dimensions  = { "Broker ID" = id, "Cluster Name" = var.cluster.name }
      threshold   = 85, periods = 3, missing = "missing"
    }
  }

  _broker_replicas = {
    for id in local.broker_ids : "broker-${id}-under-replicated" => {
      description = "Partitions that broker ${id} of ${var.cluster.name} leads have too few replicas in sync; see which broker is down or slow before another one follows."
      namespace   = "AWS/Kafka", metric = "UnderReplicatedPartitions", statistic = "Maximum"
      dimensions  = { "Broker ID" = id, "Cluster Name" = var.cluster.name }
      periods     = 3, missing = "missing"
    } if try(var.cluster.per_broker, false)
  }

  _cluster = merge([
    for cluster in var.cluster[*] : {
      "active-controller" = {
        description = "${cluster.name} has no active controller: no topic, no leader and no ACL changes; look at the cluster's state in MSK, and open a case with AWS when it does not come back by itself."
        namespace   = "AWS/Kafka", metric = "ActiveControllerCount", statistic = "Maximum"
        dimensions  = { "Cluster Name" = cluster.name }
        comparison  = "LessThanThreshold", threshold = 1, periods = 3, missing = "missing", silence = true
      }
      "offline-partitions" = {
        description = "Partitions of ${cluster.name} have no leader and can be neither read nor written; see which brokers are down, and wait for their return before changing anything."
        namespace   = "AWS/Kafka", metric = "OfflinePartitionsCount", statistic = "Maximum"
        dimensions  = { "Cluster Name" = cluster.name }
        missing     = "missing"
      }
    }
  ]...)

  _targets = {
    for key, balancer in var.load_balancers : "broker-${replace(key, "/", "-")}-target" => {
      description = "The load balancer before broker ${split("/", key)[0]} does not reach its port ${balancer.port}, so no consumer does by this port; compare its target's address with the broker's, and the security groups on ${balancer.port}."
      namespace   = "AWS/NetworkELB", metric = "HealthyHostCount", statistic = "Maximum"
      dimensions  = { LoadBalancer = balancer.arn_suffix, TargetGroup = balancer.target_group_arn_suffix }
      comparison  = "LessThanThreshold", threshold = 1, minutes = 1, periods = 3, missing = "missing", silence = true
    }
  }

  # Not the number of endpoints: that is up to the consumers.
  _connections = {
    for id, service_id in var.endpoint_services : "broker-${id}-connections" => {
      description = "Consumers' connections to broker ${id} through ${service_id} are being reset; look at its target first, then at the broker's connection limits."
      namespace   = "AWS/PrivateLinkServices", metric = "RstPacketsSent"
      dimensions  = { "Service Id" = service_id }
      threshold   = 100, periods = 3
    }
  }

  _dead_letters = {
    for name in var.dead_letter_queues : "${trimprefix(name, "${var.prefix}-")}-depth" => {
      description = "Events wait in ${name} that their function failed on three times; read its log, fix the cause, then send them again before the queue forgets them."
      namespace   = "AWS/SQS", metric = "ApproximateNumberOfMessagesVisible", statistic = "Maximum"
      dimensions  = { QueueName = name }
    }
  }

  _producers = merge([
    for name, producer in var.producers : {
      "${name}-undelivered-events" = {
        description = "${producer.function} could not write events in time: the registry or the brokers did not answer, or under the policy fixed the schema is missing; fix the cause, then replay the events (${name}-kept-events)."
        namespace   = "Penstock", metric = "UndeliveredEvents"
        dimensions  = { FunctionName = producer.function, Schema = producer.schema }
      }
      "${name}-large-failures" = {
        description = "Events that ${producer.function} failed on three times did not go into its dead-letter queue, which takes 256 KiB; they are in the bucket of rejected events for 14 days, below aws/lambda/async/${producer.function}/. Fix the cause, then send them again."
        namespace   = "AWS/Lambda", metric = "DeadLetterErrors"
        dimensions  = { FunctionName = producer.function }
      }
      "${name}-delivery-failures" = {
        description = "Lambda could not put events that ${producer.function} failed on three times into the bucket of rejected events, and those of more than 256 KiB are lost; compare the function's role, the bucket and its key with Terraform's, and ask the senders for them."
        namespace   = "AWS/Lambda", metric = "DestinationDeliveryFailures"
        dimensions  = { FunctionName = producer.function }
      }
    }
  ]...)

  _consumers = merge([
    for name in var.consumers : {
      "${trimprefix(name, "${var.prefix}-")}-held" = {
        description = "Partitions that ${name} reads have waited for a quarter of an hour, for a schema, a table, a bucket or time; see in /aws/lambda/${name} which and why: mend the registry, the role, the table or its key, or give the function more memory."
        namespace   = "Penstock", metric = "PartitionsHeld", statistic = "Maximum"
        dimensions  = { FunctionName = name }
        periods     = 3
      }
      "${trimprefix(name, "${var.prefix}-")}-lag" = {
        description = "More than ${var.lag_records} records wait for ${name}, or its mappings read nothing any more (insufficient data); see LastProcessingResult of its mappings, then /aws/lambda/${name}."
        namespace   = "AWS/Lambda", metric = "OffsetLag", statistic = "Maximum"
        dimensions  = { FunctionName = name }
        threshold   = var.lag_records, periods = 3, missing = "missing", silence = true
      }
    }
  ]...)

  _tables = {
    for name in keys(var.tables) : "${trimprefix(name, "${var.prefix}-")}-write-throttles" => {
      description = "DynamoDB throttles writes to ${name}, so its writers wait and fall behind; see its key for a hot partition, and the account's limits of tables on demand."
      namespace   = "AWS/DynamoDB", metric = "WriteThrottleEvents"
      dimensions  = { TableName = name }
      periods     = 3
    }
  }

  # A table's own metric has no throttles of its indexes, and a full index refuses writes to the table.
  _indexes = {
    for name, index in var.tables : "${trimprefix(name, "${var.prefix}-")}-${index}-write-throttles" => {
      description = "DynamoDB throttles writes to the index ${index} of ${name}, so its writers wait and fall behind: more than 1,000 dead letters a second come from one stage; see why they fail."
      namespace   = "AWS/DynamoDB", metric = "WriteThrottleEvents"
      dimensions  = { TableName = name, GlobalSecondaryIndexName = index }
      periods     = 3
    } if index != null
  }

  # By their sections of docs/operate/alarms.md; those of jobs name their own.
  _of_brokers   = merge(local._broker_disk, local._broker_replicas, local._cluster, local._targets, local._connections)
  _of_functions = merge(local._dead_letters, local._producers, local._consumers, local._tables, local._indexes)
  alarms = merge(
    { for name, alarm in local._of_brokers : name => merge(alarm, { section = "brokers" }) },
    { for name, alarm in local._of_functions : name => merge(alarm, { section = "functions" }) },
    try(var.spark.alarms, {}),
  )
}
