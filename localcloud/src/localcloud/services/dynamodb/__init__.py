"""DynamoDB is moto's, except for limits of items, values, keys and expressions that AWS has."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.key_states import KeyFlaw
from localcloud.services.dynamodb.iam_resources import list_resources


def make_key_error(flaw: KeyFlaw) -> AwsError:
    """Return the error for a key that does not work, in the words that AWS was seen to answer."""
    kind = "key disabled" if flaw.exception == "DisabledException" else "validation"
    said = f"KMS {kind} error: com.amazonaws.services.kms.model.{flaw.exception}: {flaw.says}"
    return AwsError("ValidationException", said, status=400)


SERVICE = Service(
    "dynamodb",
    endpoint="dynamodb",
    throttle=ErrorCode("ProvisionedThroughputExceededException", 400),
    resources=list_resources,
    key_error=make_key_error,
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
