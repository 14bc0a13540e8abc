# What each section shows. Every metric is one that Penstock or AWS publishes: tests/infra/test_watching.py compares them with
# the code and with AWS's lists.
locals {
  _cluster            = var.platform.brokers.metrics
  _consumer_names     = [for name in var.platform.functions.names : "${var.platform.prefix}-${name}"]
  _error_tables       = values(var.platform.store.errors)[*].name
  _job_names          = try(keys(var.platform.jobs.named), [])
  _producer_functions = values(var.platform.functions.producers)
  _queue_names        = local._producer_functions[*].dead_letter_queue
  _function_names     = concat(var.platform.functions.access[*], local._producer_functions[*].function, local._consumer_names, try(tolist(var.platform.jobs.retries), []))

  _broker_ids = [for id in range(1, try(local._cluster.broker_count, 0) + 1) : tostring(id)]
  _of_cluster = "\"Cluster Name\"=\"${try(local._cluster.name, "")}\""

  _brokers = [for cluster in local._cluster[*] : [
    {
      title = "Processor", unit = "percent", stat = "Average"
      metrics = concat([
        for id in local._broker_ids : [
          ["AWS/Kafka", "CpuUser", "Cluster Name", cluster.name, "Broker ID", id, { id = "user${id}", visible = false }],
          ["AWS/Kafka", "CpuSystem", "Cluster Name", cluster.name, "Broker ID", id, { id = "system${id}", visible = false }],
          [{ expression = "user${id} + system${id}", label = "broker ${id}" }],
        ]
      ]...)
    },
    {
      title = "Volumes", unit = "percent full"
      metrics = [
        for id in local._broker_ids : ["AWS/Kafka", "KafkaDataLogsDiskUsed", "Cluster Name", cluster.name, "Broker ID", id, { label = "broker ${id}" }]
      ]
    },
    {
      title = "Partitions", unit = "partitions"
      metrics = concat(
        [["AWS/Kafka", "OfflinePartitionsCount", "Cluster Name", cluster.name, { label = "without a leader" }]],
        [for id in local._broker_ids : ["AWS/Kafka", "UnderReplicatedPartitions", "Cluster Name", cluster.name, "Broker ID", id, { label = "out of sync at ${id}" }] if cluster.per_broker],
      )
    },
    # A topic is summed over its brokers.
    [for title, metric in { "Bytes in" = "BytesInPerSec", "Bytes out" = "BytesOutPerSec" } : {
      title                            = "${title} by topic", unit = "bytes per second", stat = "Average"
      metrics = [
        for topic in var.platform.brokers.topics :
        [{ expression = "SUM(SEARCH('{AWS/Kafka,\"Broker ID\",\"Cluster Name\",Topic} ${local._of_cluster} Topic=\"${topic}\" MetricName=\"${metric}\"', 'Average', 300))", label = topic }]
      ]
    } if length(var.platform.brokers.topics) > 0],
    {
      title = "Connections", unit = "connections"
      metrics = [
        for id in local._broker_ids : ["AWS/Kafka", "ConnectionCount", "Cluster Name", cluster.name, "Broker ID", id, { label = "broker ${id}" }]
      ]
    },
  ]]

  # Of every group that commits offsets: consumer functions and clients do, Spark jobs do not.
  _groups = [for _ in local._cluster[*] : [
    for title, lag in {
      "Lag by group and topic"               = { metric = "SumOffsetLag", unit = "records" }
      "Time to catch up, by group and topic" = { metric = "EstimatedMaxTimeLag", unit = "seconds" }
      } : {
      title   = title, unit = lag.unit
      metrics = [[{ expression = "SEARCH('{AWS/Kafka,\"Cluster Name\",\"Consumer Group\",Topic} ${local._of_cluster} MetricName=\"${lag.metric}\"', 'Maximum', 300)" }]]
    }
  ]]

  _producers = [for _ in [local._producer_functions] : [
    {
      title = "Events", unit = "events", stat = "Sum"
      metrics = concat([
        for producer in local._producer_functions : [
          for metric in ["WrittenEvents", "RejectedEvents", "UndeliveredEvents"] :
          ["Penstock", metric, "FunctionName", producer.function, "Schema", producer.schema]
        ]
      ]...)
    },
    {
      title   = "Rejected events that are kept", unit = "events"
      metrics = [for producer in local._producer_functions : ["Penstock", "KeptEvents", "FunctionName", producer.function, { label = producer.function }]]
    },
    {
      title   = "Versions left", unit = "versions", stat = "Minimum"
      metrics = [for producer in local._producer_functions : ["Penstock", "VersionsLeft", "FunctionName", producer.function, "Schema", producer.schema, { label = producer.schema }]]
    },
  ] if length(local._producer_functions) > 0]

  # A lag that shrinks by RATE records a second is gone after lag / -RATE seconds; one that does not shrink has no such time.
  _consumers = [for _ in [local._consumer_names] : [
    {
      title   = "Age of the oldest record", unit = "milliseconds"
      metrics = [for name in local._consumer_names : ["Penstock", "Lag", "FunctionName", name, { label = name }]]
    },
    {
      title   = "Lag", unit = "records"
      metrics = [for name in local._consumer_names : ["AWS/Lambda", "OffsetLag", "FunctionName", name, { label = name }]]
    },
    {
      title = "Time to catch up", unit = "seconds"
      metrics = concat([
        for index, name in sort(local._consumer_names) : [
          ["AWS/Lambda", "OffsetLag", "FunctionName", name, { id = "lag${index}", visible = false }],
          [{ expression = "IF(RATE(lag${index}) < 0, lag${index} / -RATE(lag${index}))", label = name }],
        ]
      ]...)
    },
    {
      title = "Records", unit = "records", stat = "Sum"
      metrics = concat([
        for name in local._consumer_names : [for metric in ["RowsWritten", "Tombstones", "RecordsGivenUp"] : ["Penstock", metric, "FunctionName", name]]
      ]...)
    },
    {
      title   = "Partitions that wait for a schema", unit = "partitions"
      metrics = [for name in local._consumer_names : ["Penstock", "PartitionsHeld", "FunctionName", name, { label = name }]]
    },
  ] if length(local._consumer_names) > 0]

  _jobs = [for _ in [local._job_names] : [
    {
      title   = "Lag of the partition furthest behind", unit = "records"
      metrics = [for name in local._job_names : ["Penstock", "RecordsBehind", "service", name, { label = name }]]
    },
    {
      title = "Time to catch up", unit = "seconds"
      metrics = concat([
        for index, name in sort(local._job_names) : [
          ["Penstock", "RecordsBehind", "service", name, { id = "behind${index}", visible = false }],
          [{ expression = "IF(RATE(behind${index}) < 0, behind${index} / -RATE(behind${index}))", label = name }],
        ]
      ]...)
    },
    {
      title   = "Duration of batches", unit = "milliseconds"
      metrics = [for name in local._job_names : ["Penstock", "BatchDuration", "service", name, { label = name }]]
    },
    {
      title   = "Records and rows", unit = "records", stat = "Sum"
      metrics = concat([for name in local._job_names : [for metric in ["Records", "Rows"] : ["Penstock", metric, "service", name]]]...)
    },
    {
      title   = "Errors", unit = "records", stat = "Sum"
      metrics = concat([for name in local._job_names : [for metric in ["PermanentErrors", "LostRecords"] : ["Penstock", metric, "service", name]]]...)
    },
  ] if length(local._job_names) > 0]

  _tables = [for _ in [local._error_tables] : [
    {
      title   = "Open dead letters", unit = "dead letters"
      metrics = [for name in local._error_tables : ["Penstock", "OpenDeadLetters", "Table", name, { label = name }]]
    },
    {
      title   = "The oldest dead letter", unit = "seconds"
      metrics = [for name in local._error_tables : ["Penstock", "OldestDeadLetter", "Table", name, { label = name }]]
    },
    {
      title = "Writes that DynamoDB throttled", unit = "writes", stat = "Sum"
      metrics = concat(
        [for name in concat(local._error_tables, values(var.platform.store.readings)[*].name) : ["AWS/DynamoDB", "WriteThrottleEvents", "TableName", name, { label = name }]],
        # The table's metric has none of its index.
        [for table in values(var.platform.store.errors) : ["AWS/DynamoDB", "WriteThrottleEvents", "TableName", table.name, "GlobalSecondaryIndexName", table.due_index, { label = "${table.name}/${table.due_index}" }]],
      )
    },
  ] if length(local._error_tables) > 0]

  _functions = [for _ in [local._function_names] : concat(
    [for metric, unit in { Errors = "invocations", Throttles = "invocations", Duration = "milliseconds" } : {
      title                       = "${metric} of functions", unit = unit, stat = metric == "Duration" ? "p99" : "Sum"
      metrics                     = [for name in local._function_names : ["AWS/Lambda", metric, "FunctionName", name, { label = name }]]
    }],
    [for _ in [local._queue_names] : {
      title   = "Events in dead-letter queues", unit = "events"
      metrics = [for name in local._queue_names : ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", name, { label = name }]]
    } if length(local._queue_names) > 0],
  ) if length(local._function_names) > 0]

  # AWS/Billing is in one region, and has data once billing alerts are on.
  _cost = [{
    title   = "Charges of the month so far, by service", unit = "US dollars", region = "us-east-1"
    metrics = [for service in var.charges : ["AWS/Billing", "EstimatedCharges", "Currency", "USD", "ServiceName", service, { label = service, period = 21600 }]]
  }]

  _sections = [
    { title = "Brokers", widgets = flatten(local._brokers) },
    { title = "Consumer groups", widgets = flatten(local._groups) },
    { title = "Producer functions", widgets = flatten(local._producers) },
    { title = "Consumer functions", widgets = flatten(local._consumers) },
    { title = "Spark jobs", widgets = flatten(local._jobs) },
    { title = "Tables", widgets = flatten(local._tables) },
    { title = "Functions", widgets = flatten(local._functions) },
    { title = "Cost", widgets = local._cost },
  ]
}
