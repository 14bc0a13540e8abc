locals {
  partition = data.aws_partition.this.partition
  prefix    = coalesce(var.prefix, "penstock-${var.contract.consumer}")
  tags      = merge({ application = "penstock", part = local.prefix }, var.tags)

  # The registries besides Glue.
  registries = var.contract.registries == null ? [] : var.contract.registries
  registry_urls = join(" ", concat(
    [join("&", [
      "glue://${var.contract.registry.name}?region=${var.contract.region}",
      "role_arn=${urlencode(var.contract.registry.role_arn)}",
      "external_id=${urlencode(var.contract.registry.external_id)}",
    ])],
    local.registries[*].url,
  ))

  unframed = join(",", [for topic, id in coalesce(var.contract.unframed, {}) : "${topic}=${id}"])

  # The clients of the brokers in the VPC: the functions (and their mappings' pollers), Spark unless it is null, and other
  # programs. Extensions let their own programs in. A reference to module.spark as a whole would wait for all of it.
  clients = merge(module.consumer_functions.security_group_ids, var.spark == null ? {} : { spark = module.spark["spark"].security_group_id }, module.clients.security_group_ids)

  # The function and the jobs call STS and Glue; the pollers of the mapping call the other two.
  # Spark's workers write their log from the VPC, and sessions come to a host through the last two.
  interface_endpoints = setunion(
    ["glue", "lambda", "secretsmanager", "sts"],
    var.spark == null ? [] : ["logs"],
    length([for client in values(var.clients) : client if client.host != null]) > 0 ? ["ssm", "ssmmessages"] : [],
    var.network.interface_endpoints,
  )

  # What quotas must allow: endpoints of AWS and of the brokers, and functions that retry joins.
  endpoints     = length(local.interface_endpoints) + (var.contract.exposure == "privatelink" ? length(var.contract.brokers) : 0)
  maximum_vcpus = try(tonumber(split(" ", var.spark.application.maximum.cpu)[0]), 0)
  reserved      = coalesce(var.functions.reserved_concurrency, 0) * length(local.retries)

  # By way: AWS rejects a second rule that is equal, as for both APIs of one registry. The first names the rule.
  _registry_ways = { for registry in local.registries : jsonencode([registry.cidr, registry.port, registry.security_group_id]) => registry... }
  egress = merge(
    { brokers = module.broker_access.egress },
    module.network.egress,
    { for way in values(local._registry_ways) : split("+", way[0].url)[0] => way[0] },
  )
}

data "aws_partition" "this" {}
