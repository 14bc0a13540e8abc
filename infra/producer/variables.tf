# All inputs of this root, by name, as Terraform's style guide asks: with their validations they are more than 400 lines.

variable "account_id" {
  description = "The account that this root is applied to."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id is ${var.account_id}; give the 12 digits of the account, in quotes."
  }
}

variable "check_quotas" {
  description = "Whether a plan reads the account's quotas and refuses what they do not allow; false for a deploy role without rights on Service Quotas."
  type        = bool
  default     = true
}

variable "clients" {
  description = "The clients in this VPC by name, with the topics that each reads and writes by IAM; the output clients has their policies."
  type = map(object({
    # The rights of an operator with `penstock access`: read for list and plan, change for apply too. Programs need none.
    access_lists = optional(string, "none")
    # An instance to run it on, as infra/modules/client-host takes it, or a security group of its own.
    host = optional(object({
      image_parameter = optional(string)
      instance_type   = optional(string)
      packages_bucket = optional(string)
      volume_gib      = optional(number)
    }))
    reads             = optional(set(string), [])
    security_group_id = optional(string)
    # Whether it uses transactional ids; they begin with its name and a dash.
    transactions = optional(bool, false)
    writes       = optional(set(string), [])
  }))
  default = {}

  validation {
    condition     = alltrue([for client in values(var.clients) : contains(["change", "none", "read"], client.access_lists)])
    error_message = "The clients have the access_lists ${join(", ", values(var.clients)[*].access_lists)}; give each none, read or change."
  }
  validation {
    condition     = alltrue([for client in values(var.clients) : (client.host == null) != (client.security_group_id == null)])
    error_message = "The clients ${join(", ", [for name, client in var.clients : name if(client.host == null) == (client.security_group_id == null)])} have both or neither of security_group_id and host; give each its security group, or host for an instance that is made with one."
  }
  validation {
    condition     = length(compact(values(var.clients)[*].security_group_id)) == length(distinct(compact(values(var.clients)[*].security_group_id)))
    error_message = "Clients share the security groups ${join(", ", [for id, names in { for name, client in var.clients : client.security_group_id => name... if client.security_group_id != null } : "${id} (${join(", ", names)})" if length(names) > 1])}; give each client one of its own, since its rules are made in it."
  }

  validation {
    condition     = alltrue([for client in values(var.clients) : length(setsubtract(setunion(client.reads, client.writes), keys(var.topics))) == 0 && (client.access_lists != "none" || length(setunion(client.reads, client.writes)) > 0)])
    error_message = "The clients use ${jsonencode({ for name, client in var.clients : name => setunion(client.reads, client.writes) })}; give each at least one of the topics ${join(", ", keys(var.topics))}, or none with access_lists."
  }
  validation {
    # A client may join every group that begins with its name and a dash, a consumer those of its group_prefix.
    condition = alltrue(flatten([
      for name in keys(var.clients) : [
        for other in concat([for client in keys(var.clients) : "${client}-" if client != name], values(local.consumers)[*].group_prefix) :
        !startswith(other, "${name}-") && !startswith("${name}-", other)
      ]
    ]))
    error_message = "The clients are ${join(", ", keys(var.clients))}, and the consumers' groups begin with ${join(", ", values(local.consumers)[*].group_prefix)}; choose names of which none, with a dash, begins another or is begun by it, since its client could join the other's groups."
  }
  validation {
    condition     = length(setintersection(keys(var.clients), concat(["access"], keys(var.producers)))) == 0
    error_message = "The clients are ${join(", ", keys(var.clients))}; choose other names than access and those of producers (${join(", ", keys(var.producers))}), since rules are named after both."
  }
}

variable "cluster" {
  description = "The MSK cluster; infra/modules/broker-cluster says what each attribute means."
  type = object({
    # A serverless one takes no other setting, and can only be used inside this account.
    type         = optional(string, "provisioned")
    broker_count = optional(number)
    # ARNs of private CAs, for programs that log in by a client certificate. After the last one: [].
    certificate_authorities = optional(list(string))
    # PER_BROKER, which costs, adds an alarm on partitions with too few replicas in sync.
    enhanced_monitoring = optional(string)
    instance_type       = optional(string)
    kafka_version       = optional(string)
    max_volume_gib      = optional(number)
    properties          = optional(map(string), {})
    # By name: security groups in this VPC that may read its Prometheus metrics.
    scrapers   = optional(map(string), {})
    volume_gib = optional(number)
  })
  default = {}

  validation {
    condition     = var.cluster.type != "serverless" || length(var.consumers) == 0
    error_message = "A serverless cluster cannot be read from other accounts; empty consumers, or make the cluster provisioned."
  }
  validation {
    condition     = alltrue(flatten([for consumer in var.consumers : [for program in values(consumer.programs) : program.certificate == null || length(coalesce(var.cluster.certificate_authorities, [])) > 0 && var.exposure.kind != "multi_vpc"]]))
    error_message = "Programs log in by a client certificate, cluster.certificate_authorities has ${length(coalesce(var.cluster.certificate_authorities, []))} private CAs, and exposure.kind is ${var.exposure.kind}; name the CA of the certificates, and use privatelink or peering, since the connections of multi_vpc carry SCRAM alone."
  }
}

variable "consumers" {
  description = "The consumers: name, account, topics, programs with a Kafka user each, prefix of consumer groups, rotation of the passwords, peering connection, roles with unusual names, and registries."
  # A list, because a map in a .tfvars file silently takes the last of two equal names.
  type = list(object({
    name            = string
    account_id      = string
    topics          = list(string)
    deploy_role_arn = optional(string)
    external_id     = optional(string)
    group_prefix    = optional(string)
    # Each has a Kafka user. The name is that of a function, job or client in the consumer's root, or functions, jobs or clients,
    # which are those without one of their own.
    programs = optional(map(object({
      # In place of a Kafka user: the distinguished name of its client certificate, as Kafka has it (docs/operate/certificates.md).
      certificate  = optional(string)
      group_prefix = optional(string)
      rotation     = optional(number)
      topics       = optional(list(string)) # all of the consumer's
      # Whether it uses transactional ids; they begin with its group_prefix.
      transactions = optional(bool, false)
      writes       = optional(list(string)) # all of the consumer's; none for functions
    })), { clients = {}, functions = {}, jobs = {} })
    # With exposure.kind peering: the consumer's output peering, once it has asked for the connection.
    peering           = optional(object({ cidr = string, connection_id = string }))
    reader_role_names = optional(list(string))
    # Those besides Glue (docs/operate/registries.md).
    registries = optional(list(object({
      cidr              = optional(string)
      secret_arn        = optional(string)
      security_group_id = optional(string)
      url               = string
    })), [])
    rotation = optional(number, 1)
    # Topics, under schemas that exist.
    writes = optional(list(string), [])
  }))
  default = []

  validation {
    condition     = length(var.consumers) == length(distinct(var.consumers[*].name))
    error_message = "A consumer name is used twice in ${join(", ", var.consumers[*].name)}; give each consumer its own."
  }
  validation {
    condition     = alltrue([for consumer in var.consumers : length(consumer.programs) > 0 && alltrue([for name in keys(consumer.programs) : can(regex("^[a-z][a-z0-9-]{0,23}$", name))])])
    error_message = "The programs of consumers are ${jsonencode([for consumer in var.consumers : { (consumer.name) = keys(consumer.programs) }])}; name at least one for each, with up to 24 small letters, digits and dashes, a letter first."
  }
  validation {
    condition     = alltrue(flatten([for consumer in var.consumers : [for program in values(consumer.programs) : length(setsubtract(coalesce(program.topics, []), consumer.topics)) + length(setsubtract(coalesce(program.writes, []), consumer.writes)) == 0]]))
    error_message = "The programs of consumers use ${jsonencode([for consumer in var.consumers : { (consumer.name) = { for name, program in consumer.programs : name => { topics = program.topics, writes = program.writes } if program.topics != null || program.writes != null } }])}; name topics that their consumer reads (topics) and writes (writes)."
  }
  validation {
    condition     = alltrue(flatten([for consumer in var.consumers : [for program in values(consumer.programs) : startswith(coalesce(program.group_prefix, coalesce(consumer.group_prefix, "${consumer.name}-")), coalesce(consumer.group_prefix, "${consumer.name}-"))]]))
    error_message = "The group_prefix of the programs is ${jsonencode([for consumer in var.consumers : { (consumer.name) = [for program in values(consumer.programs) : program.group_prefix if program.group_prefix != null] }])}; begin each with that of its consumer, ${join(", ", [for consumer in var.consumers : coalesce(consumer.group_prefix, "${consumer.name}-")])}."
  }
  validation {
    condition     = alltrue([for name in flatten([for consumer in var.consumers : values(consumer.programs)[*].certificate]) : name == null ? true : can(regex("^CN=[^,=+\"\\\\<>;*]+(,[A-Z]+=[^,=+\"\\\\<>;*]+)*$", name))])
    error_message = "The certificates of programs are ${jsonencode([for consumer in var.consumers : { (consumer.name) = { for name, program in consumer.programs : name => program.certificate if program.certificate != null } }])}; give the name of each as `openssl x509 -noout -subject -nameopt RFC2253` prints it, such as CN=orders,O=Acme."
  }
  validation {
    condition     = alltrue(flatten([for consumer in var.consumers : [for name, program in consumer.programs : program.certificate == null || !can(regex(local.is_function, name))]]))
    error_message = "The programs with a certificate are ${jsonencode([for consumer in var.consumers : { (consumer.name) = [for name, program in consumer.programs : name if program.certificate != null] }])}; leave certificate out of functions, consumer and consumer-NAME, since functions log in by SCRAM."
  }
  validation {
    condition     = var.exposure.kind == "peering" || alltrue([for consumer in var.consumers : consumer.peering == null])
    error_message = "The consumers ${join(", ", [for consumer in var.consumers : consumer.name if consumer.peering != null])} have a peering connection and exposure.kind is ${var.exposure.kind}; set it to peering, or leave peering out."
  }
  validation {
    condition     = alltrue([for registry in flatten(var.consumers[*].registries) : can(regex(local.registry_url, registry.url))])
    error_message = "The consumers ${join(", ", [for consumer in var.consumers : consumer.name if !alltrue([for url in consumer.registries[*].url : can(regex(local.registry_url, url))])])} have a registry with an unusable url; write confluent+https://HOST:PORT/PATH or apicurio+https://HOST:PORT (+http without TLS), a user as USER@HOST and no password; options are naming, topic, group and allow."
  }
}

variable "deploy_role_arn" {
  description = "The role that Terraform assumes in this account; null uses the caller's credentials."
  type        = string
  default     = null
}

variable "exposure" {
  description = "The exposure of the brokers, and whether consumers' endpoints wait for acceptance, which infra/consumer does through the hand-over role."
  type = object({
    acceptance_required = optional(bool, true)
    # privatelink: a load balancer and an endpoint service per broker; multi_vpc: connections that MSK manages; peering:
    # routes between the VPCs, whose address ranges must not overlap.
    kind = optional(string, "privatelink")
  })
  default = {}
}

variable "functions" {
  description = "The zips of `make build`, their Python version and architecture, and the default memory."
  type = object({
    architecture   = optional(string, "arm64")
    memory_mib     = optional(number, 512)
    packages       = optional(string, "../../build")
    python_version = optional(string, "3.13")
  })
  default = {}
}

variable "jobs" {
  description = "Spark jobs of sales in this VPC, by name (docs/sales.md); they log in by IAM on port 9098."
  type = map(object({
    # A run for each.
    commands = set(string)
    # In Parameter Store, by the names of flags with underscores.
    parameters = optional(map(string), {})
    # Topics.
    reads = optional(set(string), [])
    # The trigger of streaming jobs: an interval, or available-now to read the available records once.
    trigger = optional(string, "10 seconds")
    # infra/modules/spark-application says what each means.
    workers = optional(object({
      driver            = optional(object({ cores = optional(number), memory_gib = optional(number) }))
      executor          = optional(object({ cores = optional(number), disk_gib = optional(number), memory_gib = optional(number) }))
      initial_executors = optional(number)
      max_executors     = optional(number)
    }))
    writes = optional(set(string), [])
  }))
  default = {}

  validation {
    condition     = alltrue([for name in keys(var.jobs) : can(regex("^[a-z][a-z0-9-]{0,23}$", name)) && !contains(keys(var.clients), name)])
    error_message = "The jobs are ${join(", ", keys(var.jobs))}; use up to 24 small letters, digits and dashes for each, a letter first, and no name of a client (${join(", ", keys(var.clients))})."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(job.commands) > 0 && length(setsubtract(job.commands, flatten(values(local.sales_commands)))) == 0])
    error_message = "The jobs have the commands ${jsonencode({ for name, job in var.jobs : name => job.commands })}; name for each at least one of ${join(", ", sort(flatten(values(local.sales_commands))))}."
  }
  validation {
    # A job may join every group that begins with its name and a dash.
    condition = alltrue(flatten([
      for name in keys(var.jobs) : [
        for other in concat([for each in concat(keys(var.clients), keys(var.jobs)) : "${each}-" if each != name], values(local.consumers)[*].group_prefix) :
        !startswith(other, "${name}-") && !startswith("${name}-", other)
      ]
    ]))
    error_message = "The jobs are ${join(", ", keys(var.jobs))}, the clients ${join(", ", keys(var.clients))}, and the consumers' groups begin with ${join(", ", values(local.consumers)[*].group_prefix)}; choose names of which none, with a dash, begins another or is begun by it, since its job could join the other's groups."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : alltrue([for key, value in job.parameters : can(regex("^[a-z][a-z0-9_]*$", key)) && value != ""])])
    error_message = "The jobs have the parameters ${jsonencode({ for name, job in var.jobs : name => job.parameters })}; name them as flags with underscores, such as output_topic, and give none that is empty, which Parameter Store refuses."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : length(setsubtract(setunion(job.reads, job.writes), keys(var.topics))) == 0])
    error_message = "The jobs use ${jsonencode({ for name, job in var.jobs : name => setunion(job.reads, job.writes) })}; name topics of this root (${join(", ", keys(var.topics))})."
  }
  validation {
    condition     = alltrue([for job in values(var.jobs) : can(regex("^(available-now|[1-9][0-9]* (second|minute|hour)s?)$", job.trigger))])
    error_message = "The triggers are ${join(", ", values(var.jobs)[*].trigger)}; write available-now, or an interval like 30 seconds."
  }
  validation {
    # Both make a security group or a role of the same name, and rules are named after both.
    condition     = length(var.jobs) == 0 || length(setintersection(concat(keys(var.clients), keys(var.producers)), concat(["emr_cluster", "spark"], [for name in keys(var.jobs) : "job-${name}"]))) == 0
    error_message = "The producers are ${join(", ", keys(var.producers))} and the clients ${join(", ", keys(var.clients))}; with jobs, call none spark, emr_cluster or ${join(", ", [for name in keys(var.jobs) : "job-${name}"])}, which are names of what the jobs have."
  }
}

variable "network" {
  description = "The VPC's address range and its zones by id, or an existing VPC: one root for each VPC, since private names of one would hide those of another."
  type = object({
    cidr = optional(string, "10.0.0.0/16")
    # Add one at the end: its position gives a new subnet its range.
    zone_ids = list(string)
    # With the endpoints that it has (infra/modules/network).
    existing = optional(object({
      vpc_id              = string
      interface_endpoints = optional(map(string), {})
      prefix_list_ids     = optional(map(string), {})
      route_table_ids     = list(string)
      subnet_ids          = map(string)
    }))
    # Of extensions, such as secretsmanager, besides those that the root needs.
    interface_endpoints = optional(set(string), [])
    # Ranges that its own must not overlap.
    other_cidrs = optional(set(string), [])
  })
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of every role that this root creates, for accounts that demand one; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.permissions_boundary == null ? true : can(regex("^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+$", var.permissions_boundary))
    error_message = "permissions_boundary is ${coalesce(var.permissions_boundary, "null")}; give the ARN of a managed policy."
  }
}

variable "prefix" {
  description = "The prefix of all names in this root."
  type        = string
  default     = "penstock"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,23}$", var.prefix))
    error_message = "prefix is ${var.prefix}; use 2 to 24 small letters, digits and dashes, a letter first, since names of load balancers and buckets are short."
  }
  validation {
    condition     = !can(regex("^(aws|internal-|sg-)", var.prefix))
    error_message = "prefix is ${var.prefix}; begin it with neither aws, internal- nor sg-, which AWS keeps for names of its own."
  }
}

variable "producers" {
  description = "The producer functions, by name; docs/operate/producers.md explains each attribute."
  type = map(object({
    compatibility = optional(string) # the schema's mode; BACKWARD for a new one unless given
    device_id     = optional(string, "000001")
    event_time    = optional(string)       # a field, or none; timestamp unless given
    key           = optional(list(string)) # fields; deviceId unless given
    memory_mib    = optional(number)
    mode          = optional(string, "append") # append or upsert, as the table
    numbers       = optional(string, "double") # double or decimal, in new fields
    order         = optional(list(string))     # fields that order the versions of a row
    policy        = optional(string, "grow")   # grow, exact or fixed
    registry = optional(object({               # Glue unless given
      cidr              = optional(string)
      secret_arn        = optional(string)
      security_group_id = optional(string)
      url               = string
    }))
    schema = optional(string) # the topic's name unless given
    # Whether it starts from a snapshot of its code, initialized (SnapStart), which costs.
    snap_start     = optional(bool, false)
    sort           = optional(list(string))   # fields of the sort key
    times          = optional(string, "text") # text, timestamp-millis or timestamp-micros, for ISO 8601 texts in new fields
    topic          = string
    version_budget = optional(number) # 100 unless given
  }))
  default = { producer = { topic = "sensor", policy = "exact" } }

  validation {
    condition     = alltrue([for name in keys(var.producers) : can(regex("^[a-z][a-z0-9-]{0,23}$", name)) && !contains(["access", "status"], name)])
    error_message = "The producers are ${join(", ", keys(var.producers))}; use up to 24 small letters, digits and dashes for each, a letter first, and neither access nor status, which are functions that make topics and count."
  }
  validation {
    condition = alltrue([
      for producer in values(var.producers) :
      producer.compatibility == null ? true : contains(["NONE", "DISABLED", "BACKWARD", "BACKWARD_ALL", "FORWARD", "FORWARD_ALL", "FULL", "FULL_ALL"], producer.compatibility)
    ])
    error_message = "The compatibility modes are ${jsonencode({ for name, producer in var.producers : name => producer.compatibility })}; choose one that Glue knows, such as BACKWARD or FULL_ALL."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : producer.key == null ? true : length(producer.key) > 0])
    error_message = "The keys are ${jsonencode({ for name, producer in var.producers : name => producer.key })}; give each at least one field, or leave key out for deviceId."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : length(coalesce(producer.key, ["deviceId"])) != 1 || !contains(["_deleted", "_event", "_expiresAt", "_order", "_schema", "_schemaId", "_source", "_topic", "readingId", coalesce(producer.event_time, "timestamp")], try(producer.key[0], "deviceId"))])
    error_message = "The keys are ${jsonencode({ for name, producer in var.producers : name => producer.key })}; give each a field that is neither the event time, nor one that rows have for themselves: readingId, _deleted, _event, _expiresAt, _order, _schema, _schemaId, _source, _topic."
  }
  validation {
    condition     = alltrue(flatten([for producer in values(var.producers) : [for fields in [producer.key, producer.order, producer.sort] : fields == null ? true : length(distinct(fields)) == length(fields) && alltrue([for field in fields : can(regex("^[^, ]+$", field))])]]))
    error_message = "The fields of keys, sort keys and orders are ${jsonencode({ for name, producer in var.producers : name => concat(coalesce(producer.key, []), coalesce(producer.sort, []), coalesce(producer.order, [])) })}; name each field once in a list, without commas and spaces."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : contains(["append", "upsert"], producer.mode)])
    error_message = "The modes are ${jsonencode({ for name, producer in var.producers : name => producer.mode })}; choose append or upsert, as the table that the consumers write."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : producer.mode == "upsert" || (producer.sort == null && producer.order == null)])
    error_message = "The producers are ${jsonencode({ for name, producer in var.producers : name => { mode = producer.mode, order = producer.order, sort = producer.sort } })}; use sort and order in mode upsert only, as in the tables that consumers write."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : try(length(producer.sort), 1) > 0 && try(length(producer.order), 1) > 0])
    error_message = "The sort keys and orders are ${jsonencode({ for name, producer in var.producers : name => { order = producer.order, sort = producer.sort } })}; give each at least one field, or leave it out."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : producer.registry == null ? true : can(regex(local.registry_url, producer.registry.url))])
    error_message = "The producers ${join(", ", [for name, producer in var.producers : name if producer.registry != null && !can(regex(local.registry_url, try(producer.registry.url, "")))])} have a registry with an unusable url; write confluent+https://HOST:PORT/PATH or apicurio+https://HOST:PORT (+http without TLS), a user as USER@HOST and no password; options are naming, topic, group and allow."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : contains(["double", "decimal"], producer.numbers)])
    error_message = "The numbers are ${jsonencode({ for name, producer in var.producers : name => producer.numbers })}; choose double or decimal."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : contains(["text", "timestamp-millis", "timestamp-micros"], producer.times)])
    error_message = "The types of times are ${jsonencode({ for name, producer in var.producers : name => producer.times })}; choose text, timestamp-millis or timestamp-micros."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : contains(["exact", "grow", "fixed"], producer.policy)])
    error_message = "The policies are ${join(", ", values(var.producers)[*].policy)}; choose grow, exact or fixed."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : producer.policy != "fixed" || (producer.compatibility == null && producer.version_budget == null)])
    error_message = "Producers with the policy fixed create no schema and no version (${join(", ", [for name, producer in var.producers : name if producer.policy == "fixed"])}); leave compatibility and version_budget out."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : producer.policy != "fixed" || can(regex("^[A-Za-z0-9_$#.-]{1,255}$", coalesce(producer.schema, producer.topic)))])
    error_message = "The schemas of the policy fixed are ${join(", ", [for producer in values(var.producers) : coalesce(producer.schema, producer.topic) if producer.policy == "fixed"])}; use the names that they have in Glue: up to 255 letters, digits and _-$#. each."
  }
  validation {
    condition     = alltrue([for producer in values(var.producers) : producer.policy == "fixed" || can(regex("^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$", coalesce(producer.schema, producer.topic)))])
    error_message = "The schemas are ${join(", ", [for producer in values(var.producers) : coalesce(producer.schema, producer.topic) if producer.policy != "fixed"])}; use letters, digits and _ for each, no digit first, since it also names the Avro record; set schema where the topic has other characters."
  }
  validation {
    condition     = length([for producer in values(var.producers) : producer if producer.policy != "fixed"]) == length(distinct([for producer in values(var.producers) : coalesce(producer.schema, producer.topic) if producer.policy != "fixed"]))
    error_message = "The schemas are ${join(", ", [for producer in values(var.producers) : coalesce(producer.schema, producer.topic) if producer.policy != "fixed"])}; give each producer that registers versions one of its own."
  }
  validation {
    condition     = length(setintersection([for producer in values(var.producers) : "${try(producer.registry.url, "Glue")} ${coalesce(producer.schema, producer.topic)}" if producer.policy == "fixed"], [for producer in values(var.producers) : "${try(producer.registry.url, "Glue")} ${coalesce(producer.schema, producer.topic)}" if producer.policy != "fixed"])) == 0
    error_message = "Producers with the policy fixed have a schema to which others add versions: ${join(", ", setintersection([for producer in values(var.producers) : "${try(producer.registry.url, "Glue")} ${coalesce(producer.schema, producer.topic)}" if producer.policy == "fixed"], [for producer in values(var.producers) : "${try(producer.registry.url, "Glue")} ${coalesce(producer.schema, producer.topic)}" if producer.policy != "fixed"]))}; a version that is added loses required fields and defaults, so give it another schema."
  }
}

variable "region" {
  description = "The region of all resources."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region is ${var.region}; give its code, such as eu-central-1."
  }
}

variable "registry" {
  description = "The name of the Glue registry that this root makes, which must not exist yet; it cannot change: another name would be a registry without the schemas."
  type        = string
  default     = "penstock"
}

variable "retention" {
  description = "What is kept: removed topics, objects of deleted buckets, and the days of deleted secrets and keys, and of logs."
  type = object({
    # Deletes topics that are removed, with their records; else they stay, unmanaged. The value of the apply before counts:
    # to keep a topic's records, set it to false in an apply of its own, then remove the topic.
    delete_removed_topics = optional(bool, false)
    # Deletes buckets with their objects.
    force_destroy        = optional(bool, false)
    key_deletion_days    = optional(number, 30)
    log_days             = optional(number, 365)
    secret_recovery_days = optional(number, 30)
  })
  default = {}

  validation {
    condition     = contains(range(7, 31), var.retention.key_deletion_days)
    error_message = "retention.key_deletion_days is ${var.retention.key_deletion_days}; KMS allows 7 to 30."
  }
  validation {
    condition = contains(
      [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653],
      var.retention.log_days
    )
    error_message = "retention.log_days is ${var.retention.log_days}; choose a number of days that CloudWatch knows, such as 7, 30, 90 or 365."
  }
}

variable "spark" {
  description = "The EMR Serverless application of the jobs, and a cluster of EMR on EC2 for some of them."
  type = object({
    # infra/modules/spark-application says what each means.
    application = optional(object({
      architecture  = optional(string, "ARM64")
      idle_minutes  = optional(number, 15)
      release_label = optional(string, "emr-spark-8.1.0")
      maximum = optional(object({
        cpu    = optional(string, "16 vCPU")
        memory = optional(string, "64 GB")
      }), {})
    }), {})
    # For these jobs; infra/modules/emr-cluster says what the rest means.
    cluster = optional(object({
      concurrent_steps       = optional(number)
      core_nodes             = optional(number)
      core_type              = optional(string)
      idle_minutes           = optional(number)
      jobs                   = set(string)
      primary_type           = optional(string)
      release_label          = optional(string)
      termination_protection = optional(bool)
      volume_gib             = optional(number)
    }))
    # Jars of EMR's image in place of those in jars, as absolute paths.
    image_jars = optional(list(string), [])
    # Folders.
    jars = optional(string, "../../jars/spark/lib")
    jobs = optional(string, "../../jobs")
  })
  default = {}

  validation {
    condition     = var.spark.cluster == null ? true : length(var.spark.cluster.jobs) > 0 && length(setsubtract(var.spark.cluster.jobs, keys(var.jobs))) == 0
    error_message = "spark.cluster.jobs has ${join(", ", try(var.spark.cluster.jobs, []))}; name at least one, and jobs of this root (${join(", ", keys(var.jobs))})."
  }
  validation {
    condition     = length(var.jobs) == 0 ? true : length(fileset(var.spark.jars, "*.jar")) > 0
    error_message = "There are no jars in ${var.spark.jars}; fetch them with `make install`."
  }
}

variable "status" {
  description = "The minutes between two counts of what is open, and when an alarm starts: above kept_events, or below versions_left (a fifth of the budget unless given)."
  type = object({
    kept_events   = optional(number)
    minutes       = optional(number)
    versions_left = optional(number)
  })
  default = {}
}

variable "subscribers" {
  description = "E-mail addresses that are notified of alarms."
  type        = set(string)
  default     = []
}

variable "tags" {
  description = "Tags of every resource besides application and part, such as the cost centre and the owner; objects in buckets get none."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(var.tags) <= 40 && alltrue([for key, value in var.tags : can(regex("^[A-Za-z0-9 _.:/=+@-]{1,128}$", key)) && !startswith(lower(key), "aws:") && can(regex("^[A-Za-z0-9 _.:/=+@-]{0,256}$", value))])
    error_message = "The tags are ${jsonencode(var.tags)}; give up to 40, of letters, digits, spaces and _.:/=+@-, no key beginning with aws:."
  }
}

variable "test_events" {
  description = "The shareable test events of each producer function in Lambda's console, by name, each as JSON."
  type = object({
    # With events: true where the account lacks the registry lambda-testevent-schemas in this region, else false. The
    # console makes it with the first event that somebody shares.
    create_registry = optional(bool)
    events          = optional(map(string), {})
  })
  default = {}

  validation {
    condition     = length(var.test_events.events) == 0 || var.test_events.create_registry != null
    error_message = "There are test events (${join(", ", keys(var.test_events.events))}) and no create_registry; set it to false if `aws schemas describe-registry --registry-name lambda-testevent-schemas` finds one, else to true."
  }
}

variable "topics" {
  description = "The topics by name: partitions, replicas and properties, the cluster's defaults if omitted; a producer's topic that is missing here is created by its first record, without readers."
  type = map(object({
    partitions = optional(number, 3)
    properties = optional(map(string), {})
    replicas   = optional(number)
    # Of values that are Avro without a frame: the id of the schema version that all of them are written in.
    unframed = optional(string)
  }))
  default = { sensor = {} }

  validation {
    condition     = var.cluster.type != "serverless" || length(setsubtract(flatten([for topic in values(var.topics) : keys(topic.properties)]), local.serverless_properties)) == 0
    error_message = "The topics have the properties ${join(", ", sort(distinct(flatten([for topic in values(var.topics) : keys(topic.properties)]))))}; a topic of MSK Serverless takes ${join(", ", local.serverless_properties)} alone."
  }
  validation {
    # The function would make it without the properties that every topic has there.
    condition     = var.cluster.type != "serverless" || length(setsubtract(values(var.producers)[*].topic, keys(var.topics))) == 0
    error_message = "The producers write ${join(", ", sort(values(var.producers)[*].topic))} and the topics are ${join(", ", keys(var.topics))}; name all of them in topics, since the first record of a producer would make a topic of MSK Serverless whose timestamps are the clients'."
  }
  validation {
    condition     = alltrue([for topic in values(var.topics) : can(regex("^((confluent:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(confluent|apicurio):[1-9][0-9]*)$", coalesce(topic.unframed, "confluent:1")))])
    error_message = "The topics without frames are ${jsonencode({ for name, topic in var.topics : name => topic.unframed if topic.unframed != null })}; give each the id of a schema version as `penstock schema versions` prints it, such as confluent:17, or 36 characters of Glue."
  }
}
