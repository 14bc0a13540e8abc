"""SQS is moto's, except for limits of messages that AWS has."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Policies, Service
from localcloud.identity.access import Access, arn_of
from localcloud.identity.resource_policies import key_use_of_queue


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the queue of a call and the use of its key."""
    url, name = call.params.get("QueueUrl"), call.params.get("QueueName")
    if url:
        account, name = url.rstrip("/").split("/")[-2:]
        arn = f"arn:aws:sqs:{call.region}:{account}:{name}"
        yield Access(action, arn)
        yield from (Access(*use) for use in key_use_of_queue(arn, action))
    else:
        yield Access(action, arn_of(call, name) if name else None)


SERVICE = Service(
    "sqs",
    endpoint="sqs",
    throttle=None,
    resources=list_resources,
    operations=("messages",),
    actions={
        "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
        "DeleteMessageBatch": "DeleteMessage",
        "SendMessageBatch": "SendMessage",
    },
    denial=ErrorCode("AccessDenied", 403),
    key_error=lambda flaw: AwsError(f"KMS.{flaw.plain}", flaw.says, status=400),
    policies=Policies(
        "InvalidAttributeValue",
        "Invalid value for the parameter Policy.",
        dict.fromkeys(("CreateQueue", "SetQueueAttributes"), ("Attributes", "Policy")),
    ),
    contents={"SendMessage": ("MessageBody",), "SendMessageBatch": ("Entries",)},
    moto=Moto(
        keeps=(
            "AddPermission ChangeMessageVisibility ChangeMessageVisibilityBatch CreateQueue "
            "PurgeQueue ReceiveMessage SetQueueAttributes TagQueue"
        ),
    ),
)
