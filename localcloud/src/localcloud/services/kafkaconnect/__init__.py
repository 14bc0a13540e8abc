"""MSK Connect: each connector has a real worker of Kafka Connect on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, LinkedRole, Service
from localcloud.identity.access import Access, by_parameter, role_in

_BY_ARN = by_parameter(
    ("connectorArn", "{}"),
    ("customPluginArn", "{}"),
    ("workerConfigurationArn", "{}"),
    ("connectorOperationArn", "{}"),
    ("resourceArn", "{}"),
)


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the resource of a call, and the object of a custom plugin.

    Service Authorization Reference, "Amazon Managed Streaming for Kafka Connect": dependencies.
    """
    yield from _BY_ARN(call, action)
    if call.operation == "CreateCustomPlugin":
        place = call.params.get("location", {}).get("s3Location", {})
        yield Access("s3:GetObject", f"{place.get('bucketArn')}/{place.get('fileKey')}")


SERVICE = Service(
    "kafkaconnect",
    endpoint="kafkaconnect",
    throttle=ErrorCode("TooManyRequestsException", 429),
    resources=list_resources,
    operations=("changes", "connectors", "lifecycle", "plugins", "tags", "worker_configurations"),
    passed_roles=role_in(
        ("serviceExecutionRoleArn",), "kafkaconnect.amazonaws.com", "CreateConnector"
    ),
    linked_roles={
        "CreateConnector": LinkedRole("kafkaconnect.amazonaws.com", "AWSServiceRoleForKafkaConnect")
    },
    contents={
        "CreateConnector": ("connectorConfiguration",),
        "UpdateConnector": ("connectorConfiguration",),
        "CreateWorkerConfiguration": ("propertiesFileContent",),
    },
    changes_network=False,
    status=("connectors",),
    ignored={
        "RestartConnector": "onlyFailedTasks",
        "UpdateConnector": "skipHealthValidation",
    },
)
