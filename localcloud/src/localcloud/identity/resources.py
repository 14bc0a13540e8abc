"""The tables of IAM actions and resources for calls.

A call that is not listed here is evaluated by its action alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from localcloud.door.operations import Call
from localcloud.identity import parameters, resource_policies
from localcloud.identity.conditions import Context, as_list
from localcloud.identity.s3_actions import BUCKET_ACTIONS, DECRYPTS, OBJECT_ACTIONS
from localcloud.moto_repairs import read_key_of_ciphertext


@dataclass(frozen=True, slots=True)
class Access:
    """An action on a resource; None is a resource that the tables do not know.

    The context has the condition keys of this action, in addition to those of the call.
    """

    action: str
    resource: str | None
    context: Context = field(default_factory=dict)


# Parameter -> the end of the ARN; the first present parameter counts, an ARN stays unchanged.
_ENDS: dict[str, tuple[tuple[str, str], ...]] = {
    "dynamodbstreams": (("StreamArn", "{}"),),
    "kafka": (
        ("ClusterArn", "{}"),
        ("TargetClusterArn", "{}"),
        ("ResourceArn", "{}"),
        ("Arn", "{}"),
    ),
    "lambda": (
        ("UUID", "event-source-mapping:{}"),
        ("FunctionName", "function:{}"),
        ("Resource", "{}"),
    ),
    "sns": (
        ("TopicArn", "{}"),
        ("TargetArn", "{}"),
        ("ResourceArn", "{}"),
        ("Name", "{}"),
        ("SubscriptionArn", "{}"),
    ),
}

# Services of localcloud's own whose calls are evaluated by their action alone.
BY_ACTION_ALONE = frozenset("application-autoscaling cloudwatch elbv2 events iam route53".split())

# Operations with another name in IAM.
_ACTIONS = {
    ("lambda", "Invoke"): "lambda:InvokeFunction",
    ("sqs", "SendMessageBatch"): "sqs:SendMessage",
    ("sqs", "DeleteMessageBatch"): "sqs:DeleteMessage",
    ("sqs", "ChangeMessageVisibilityBatch"): "sqs:ChangeMessageVisibility",
    ("sns", "PublishBatch"): "sns:Publish",
}
_PREFIXES = {
    "dynamodbstreams": "dynamodb",
    "elbv2": "elasticloadbalancing",
    "emr": "elasticmapreduce",
    "resourcegroupstaggingapi": "tag",
    "s3control": "s3",
    "service-quotas": "servicequotas",
    "stepfunctions": "states",
}

# The names of ids -> the kind of resource in its ARN, the first present ones count:
# Service Authorization Reference, "Amazon EC2".
_EC2_KINDS = (
    (("ServiceId", "ServiceIds"), "vpc-endpoint-service"),
    (("VpcEndpointId", "VpcEndpointIds"), "vpc-endpoint"),
    (("GroupId", "SecurityGroupIds", "Groups"), "security-group"),
    (("SubnetId", "SubnetIds"), "subnet"),
    (("NetworkInterfaceId",), "network-interface"),
    (("RouteTableId", "RouteTableIds"), "route-table"),
    (("VpcId",), "vpc"),
)
_PRIMARY = frozenset(  # without a work group these mean the group `primary`
    {"CreateNamedQuery", "ListNamedQueries", "ListQueryExecutions", "StartQueryExecution"}
)
_VERSIONED = frozenset({"s3:GetObject", "s3:DeleteObject"})
_ITEM_OPERATIONS = frozenset(
    {
        *("BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
        *("TransactGetItems", "TransactWriteItems", "UpdateItem"),
    }
)
_TRANSACT_ACTIONS = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}


def list_access(call: Call) -> list[Access]:
    """List everything that a caller must be allowed for this call."""
    special = _SPECIAL.get(call.service)
    return list(special(call) if special else _general(call))


def list_access_by_endpoint(call: Call) -> list[Access]:
    """List what the policy of a VPC endpoint must allow: the use of keys passes no endpoint."""
    if call.endpoint is None:
        return []
    if call.service == "sts":
        return [Access(_action(call), call.params.get("RoleArn", "*"))]
    of_kms = call.service == "kms"
    return [it for it in list_access(call) if it.action.startswith("kms:") is of_kms]


def judged_by_resource(service: str) -> bool:
    """Return whether the tables know the resources of a service."""
    return service in _ENDS or service in _SPECIAL


def _action(call: Call) -> str:
    prefix = _PREFIXES.get(call.service, call.service)
    return _ACTIONS.get((call.service, call.operation), f"{prefix}:{call.operation}")


def _arn(call: Call, value: str, end: str = "{}") -> str:
    if value.startswith("arn:"):
        return value
    return f"arn:aws:{call.service}:{call.region}:{call.account}:{end.format(value)}"


def _general(call: Call) -> Iterator[Access]:
    for name, end in _ENDS.get(call.service, ()):
        if value := call.params.get(name):
            yield Access(_action(call), _arn(call, value, end))
            return
    yield Access(_action(call), None)


def _dynamodb(call: Call) -> Iterator[Access]:
    tables = list(_table_access(call))
    yield from tables
    if call.operation in _ITEM_OPERATIONS:
        for arn in dict.fromkeys(str(access.resource) for access in tables):
            yield from (Access(*use) for use in resource_policies.key_use_of_table(arn))


def _table_access(call: Call) -> Iterator[Access]:
    params, action = call.params, _action(call)
    if "RequestItems" in params:
        tables = list(params["RequestItems"])
        yield from (Access(action, _arn(call, table, "table/{}")) for table in tables)
    elif "TransactItems" in params:
        for item in params["TransactItems"]:
            for kind, request in item.items():
                name = _TRANSACT_ACTIONS[kind]
                yield Access(f"dynamodb:{name}", _arn(call, request["TableName"], "table/{}"))
    elif table := params.get("TableName") or params.get("ResourceArn"):
        arn = _arn(call, table, "table/{}")
        index = params.get("IndexName")
        yield Access(action, f"{arn}/index/{index}" if index else arn)
    else:
        yield Access(action, None)


class QueryGroups(dict[str, str]):
    """The work group of each Athena query, by its id: calls about a query do not name the group."""


def _athena(call: Call) -> Iterator[Access]:
    params, action = call.params, _action(call)
    groups = call.cloud.state(QueryGroups, call.account, call.region)
    ids = params.get("QueryExecutionIds") or [params.get("QueryExecutionId")]
    if ids != [None]:  # an unknown query is in no group that a policy could allow
        for group in dict.fromkeys(groups.get(each) for each in ids):
            yield Access(action, _arn(call, group, "workgroup/{}") if group else "*")
    elif arn := params.get("ResourceARN"):
        yield Access(action, arn)
    elif call.operation.endswith("WorkGroup"):
        name = params.get("WorkGroup") or params["Name"]
        yield Access(action, _arn(call, name, "workgroup/{}"))
    elif "WorkGroup" in params or call.operation in _PRIMARY:
        yield Access(action, _arn(call, params.get("WorkGroup", "primary"), "workgroup/{}"))
    else:
        yield Access(action, None)


def _ec2(call: Call) -> Iterator[Access]:
    if call.operation.startswith("Describe"):  # EC2 has no resource for these
        yield Access(_action(call), "*")
        return
    found: list[str | None] = [
        _arn(call, each, f"{kind}/{{}}")
        for names, kind in _EC2_KINDS
        for name in names
        for each in as_list(call.params.get(name, []))
    ]
    alone = call.operation.endswith("VpcEndpointConnections")  # they name the endpoints too
    yield from (Access(_action(call), arn) for arn in (found[:1] if alone else found) or [None])


def _emr(call: Call) -> Iterator[Access]:
    params, start = call.params, f"arn:aws:elasticmapreduce:{call.region}:{call.account}:cluster/"
    named = params.get("ClusterId") or params.get("ResourceId") or params.get("JobFlowId")
    for cluster in params.get("JobFlowIds") or [named]:
        yield Access(_action(call), start + cluster if cluster else "*")
    if call.operation == "RunJobFlow" and params.get("Tags"):
        yield Access("elasticmapreduce:AddTags", f"{start}*")


def _emr_serverless(call: Call) -> Iterator[Access]:
    application, run = call.params.get("applicationId"), call.params.get("jobRunId")
    arn = call.params.get("resourceArn")
    if application:
        arn = _arn(call, f"/applications/{application}" + (f"/jobruns/{run}" if run else ""))
    yield Access(_action(call), arn)


def _lambda(call: Call) -> Iterator[Access]:
    if call.operation == "CreateEventSourceMapping":  # its resource has no id yet
        yield Access(_action(call), "*")
    else:
        yield from _general(call)


def _glue(call: Call) -> Iterator[Access]:
    params, action = call.params, _action(call)
    if "SchemaVersionId" in params:  # an id names no resource: only "*" allows reading by it
        yield Access(action, "*" if call.operation == "GetSchemaVersion" else None)
    elif "SchemaId" in params or "RegistryId" in params or call.operation == "CreateSchema":
        yield from (Access(action, arn) for arn in _registry_arns(call))
    elif "Crawler" in call.operation:
        # Not known: whether CreateCrawler has a resource (the assumption `crawler-permission`).
        named = "Name" in params and call.operation != "CreateCrawler"
        yield Access(action, _arn(call, f"crawler/{params['Name']}") if named else "*")
    elif "DatabaseName" in params or (call.operation.endswith("Database") and "Name" in params):
        yield from (Access(action, _arn(call, end)) for end in _catalog_ends(params))
    else:
        yield Access(action, None)


def _registry_arns(call: Call) -> Iterator[str]:
    schema, registry = call.params.get("SchemaId", {}), call.params.get("RegistryId", {})
    if arn := schema.get("SchemaArn"):
        name = arn.partition(":schema/")[2].partition("/")[0]
        yield from (arn.partition(":schema/")[0] + f":registry/{name}", arn)
        return
    name = registry.get("RegistryName") or schema.get("RegistryName") or "default-registry"
    yield _arn(call, registry.get("RegistryArn", name), "registry/{}")
    name = registry.get("RegistryArn", name).rpartition("/")[2]
    if schema_name := schema.get("SchemaName") or call.params.get("SchemaName"):
        yield _arn(call, f"{name}/{schema_name}", "schema/{}")


def _catalog_ends(params: dict[str, Any]) -> Iterator[str]:
    database = params.get("DatabaseName") or params.get("Name")
    yield from ("catalog", f"database/{database}")
    if "DatabaseName" in params:
        table = params.get("TableName") or params.get("Name")
        if table := table or params.get("TableInput", {}).get("Name"):
            yield f"table/{database}/{table}"


def _s3(call: Call) -> Iterator[Access]:
    bucket, key = call.params.get("Bucket"), call.params.get("Key")
    if bucket is None:
        yield Access(BUCKET_ACTIONS.get(call.operation, f"s3:{call.operation}"), "*")
    elif key is None:
        yield from _s3_bucket(call, f"arn:aws:s3:::{bucket}")
    else:
        arn = f"arn:aws:s3:::{bucket}/{key}"
        action = OBJECT_ACTIONS.get(call.operation, f"s3:{call.operation}")
        yield Access(_of_version(action, call.params), arn)
        if source := call.params.get("CopySource"):
            yield Access("s3:GetObject", "arn:aws:s3:::" + source.lstrip("/").partition("?")[0])
        for use in resource_policies.key_use_of_object(call.params, action):
            yield Access(*use)
            if call.operation in DECRYPTS:
                yield Access("kms:Decrypt", *use[1:])


def _of_version(action: str, params: dict[str, Any]) -> str:
    return f"{action}Version" if action in _VERSIONED and "VersionId" in params else action


def _s3_bucket(call: Call, arn: str) -> Iterator[Access]:
    if call.operation == "DeleteObjects":
        for entry in call.params.get("Delete", {}).get("Objects", []):
            action = _of_version("s3:DeleteObject", entry)
            yield Access(action, f"{arn}/{entry['Key']}")
    else:
        yield Access(BUCKET_ACTIONS.get(call.operation, f"s3:{call.operation}"), arn)


def _secretsmanager(call: Call) -> Iterator[Access]:
    secret_id = call.params.get("SecretId") or call.params.get("Name")
    if not secret_id:  # ListSecrets, GetRandomPassword
        yield Access(_action(call), None)
        return
    arn = resource_policies.secret_arn(call.account, call.region, secret_id)
    yield Access(_action(call), arn)
    yield from (Access(*use) for use in resource_policies.key_use_of_secret(arn, call.operation))


def _kms(call: Call) -> Iterator[Access]:
    key = call.params.get("KeyId") or call.params.get("TargetKeyId")
    if key is None and "CiphertextBlob" in call.params:
        key = read_key_of_ciphertext(call.params["CiphertextBlob"])
    yield Access(
        _action(call), resource_policies.key_arn(call.account, call.region, key) if key else None
    )


def _sqs(call: Call) -> Iterator[Access]:
    url, name = call.params.get("QueueUrl"), call.params.get("QueueName")
    if url:
        account, name = url.rstrip("/").split("/")[-2:]
        arn = f"arn:aws:sqs:{call.region}:{account}:{name}"
        yield Access(_action(call), arn)
        uses = resource_policies.key_use_of_queue(arn, _action(call))
        yield from (Access(*use) for use in uses)
    else:
        yield Access(_action(call), _arn(call, name) if name else None)


def _sns(call: Call) -> Iterator[Access]:
    for access in _general(call):
        yield access
        if access.resource:
            uses = resource_policies.key_use_of_topic(access.resource, access.action)
            yield from (Access(*use) for use in uses)


def _logs(call: Call) -> Iterator[Access]:
    group = call.params.get("logGroupName") or call.params.get("logGroupNamePrefix")
    stream = call.params.get("logStreamName", "")
    end = "log-group:{}:log-stream:" + stream
    yield Access(_action(call), _arn(call, group, end) if group else None)


def _scheduler(call: Call) -> Iterator[Access]:
    name, arn = call.params.get("Name"), call.params.get("ResourceArn")
    if call.operation.startswith("List") and arn is None:
        yield Access(_action(call), "*")
    elif call.operation.endswith("ScheduleGroup"):
        yield Access(_action(call), _arn(call, f"schedule-group/{name}"))
    else:
        group = call.params.get("GroupName", "default")
        yield Access(_action(call), arn or _arn(call, f"schedule/{group}/{name}"))


def _schemas(call: Call) -> Iterator[Access]:
    registry, schema = call.params.get("RegistryName"), call.params.get("SchemaName")
    arn = call.params.get("ResourceArn")
    if schema:
        arn = _arn(call, f"schema/{registry}/{schema}")
    elif registry:
        arn = _arn(call, f"registry/{registry}")
    yield Access(_action(call), arn)


def _ssm(call: Call) -> Iterator[Access]:
    uses = [Access(*use) for use in parameters.list_uses(call)]
    yield from uses or [Access(_action(call), None)]


def _without_resource(call: Call) -> Iterator[Access]:
    """Yield the action on everything: the actions of the service have no resources in IAM."""
    yield Access(_action(call), "*")


_Lister: TypeAlias = Callable[[Call], Iterator[Access]]
_SPECIAL: dict[str, _Lister] = {
    "athena": _athena,
    "dynamodb": _dynamodb,
    "ec2": _ec2,
    "emr": _emr,
    "emr-serverless": _emr_serverless,
    "glue": _glue,
    "kms": _kms,
    "lakeformation": _without_resource,
    "lambda": _lambda,
    "logs": _logs,
    "s3": _s3,
    "scheduler": _scheduler,
    "schemas": _schemas,
    "secretsmanager": _secretsmanager,
    "service-quotas": _without_resource,
    "sns": _sns,
    "sqs": _sqs,
    "ssm": _ssm,
    # Only AssumeRole needs permission, and the trust policy decides on that too.
    "sts": lambda _call: iter(()),
}
