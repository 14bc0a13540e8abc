"""AWS Lambda: moto keeps the functions' records; functions and Kafka mappings run here."""

from __future__ import annotations

from collections.abc import Iterable

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import Access, by_parameter, on_everything, role_in

_by_parameter = by_parameter(
    ("UUID", "event-source-mapping:{}"), ("FunctionName", "function:{}"), ("Resource", "{}")
)


def list_resources(call: Call, action: str) -> Iterable[Access]:
    """Return the function or the mapping of a call; a new mapping has no id yet."""
    if call.operation == "CreateEventSourceMapping":
        return on_everything(call, action)
    return _by_parameter(call, action)


SERVICE = Service(
    "lambda",
    endpoint="lambda",
    throttle=ErrorCode("TooManyRequestsException", 429),
    resources=list_resources,
    operations=("code", "concurrency", "invoke", "mappings"),
    actions={"Invoke": "InvokeFunction"},
    passed_roles=role_in(
        ("Role",), "lambda.amazonaws.com", "CreateFunction", "UpdateFunctionConfiguration"
    ),
    status=("functions", "mappings"),
    moto=Moto(
        keeps=(
            "CreateAlias PutFunctionEventInvokeConfig UpdateAlias UpdateFunctionEventInvokeConfig"
        ),
        ignores="AddPermission",
    ),
    ignored={
        "CreateEventSourceMapping": (
            "AmazonManagedKafkaEventSourceConfig DocumentDBEventSourceConfig KMSKeyArn "
            "MetricsConfig ParallelizationFactor Queues ScalingConfig TumblingWindowInSeconds"
        ),
        "CreateFunction": (
            "EphemeralStorage TracingConfig "
            "AcceleratorConfig CapacityProviderConfig DurableConfig FileSystemConfigs "
            "PublishTo RuntimeConfig TenancyConfig"
        ),
        "Invoke": "ClientContext DurableExecutionName TenantId",
        "ListEventSourceMappings": "Marker MaxItems",
        "PublishVersion": "PublishTo",
        "UpdateEventSourceMapping": (
            "AmazonManagedKafkaEventSourceConfig DocumentDBEventSourceConfig KMSKeyArn "
            "MetricsConfig ParallelizationFactor ScalingConfig TumblingWindowInSeconds"
        ),
        "UpdateFunctionCode": "PublishTo S3ObjectStorageMode S3ObjectVersion SourceKMSKeyArn",
        "UpdateFunctionConfiguration": (
            "EphemeralStorage TracingConfig "
            "AcceleratorConfig CapacityProviderConfig DurableConfig FileSystemConfigs RuntimeConfig"
        ),
    },
)
