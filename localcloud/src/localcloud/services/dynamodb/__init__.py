"""DynamoDB is moto's, except for limits of items, values, keys and expressions that AWS has."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.services.dynamodb.iam_resources import list_resources

SERVICE = Service(
    "dynamodb",
    endpoint="dynamodb",
    throttle=ErrorCode("ProvisionedThroughputExceededException", 400),
    resources=list_resources,
    operations=("items",),
    one_at_a_time=True,
    # DynamoDB Developer Guide, "DynamoDB encryption at rest: usage notes".
    keys={"CreateTable": ("SSESpecification", "KMSMasterKeyId")},
    contents={
        "BatchWriteItem": ("RequestItems",),
        "PutItem": ("Item",),
        "TransactWriteItems": ("TransactItems",),
        "UpdateItem": ("ExpressionAttributeValues",),
    },
    moto=Moto(
        keeps=(
            "BatchExecuteStatement CreateBackup CreateTable ExecuteStatement ExecuteTransaction "
            "RestoreTableFromBackup RestoreTableToPointInTime TagResource TransactGetItems "
            "UpdateTable"
        ),
        ignores="UpdateContinuousBackups UpdateTimeToLive",
    ),
    ignored={
        "BatchWriteItem": "ReturnItemCollectionMetrics",
        "PutItem": "ReturnItemCollectionMetrics",
        "TransactWriteItems": "ClientRequestToken ReturnItemCollectionMetrics",
        "UpdateItem": "ReturnItemCollectionMetrics",
    },
)
