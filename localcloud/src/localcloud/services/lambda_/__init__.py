"""AWS Lambda: moto keeps the functions' records; functions and Kafka mappings run here."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import role_in
from localcloud.services.lambda_.qualifiers import check_qualifier, list_resources

SERVICE = Service(
    "lambda",
    endpoint="lambda",
    throttle=ErrorCode("TooManyRequestsException", 429),
    resources=list_resources,
    operations=("code", "concurrency", "event_invoke_configs", "invoke", "mappings"),
    actions={"Invoke": "InvokeFunction"},
    passed_roles=role_in(
        ("Role",), "lambda.amazonaws.com", "CreateFunction", "UpdateFunctionConfiguration"
    ),
    check=check_qualifier,
    status=("functions", "mappings"),
    moto=Moto(keeps="CreateAlias UpdateAlias", ignores="AddPermission"),
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
        "ListFunctionEventInvokeConfigs": "Marker MaxItems",
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
