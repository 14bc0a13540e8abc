"""SNS is moto's, except for subscriptions of functions, which are refused."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Policies, Service
from localcloud.identity.access import Access, by_parameter
from localcloud.identity.resource_policies import key_use_of_topic

_by_parameter = by_parameter(
    ("TopicArn", "{}"),
    ("TargetArn", "{}"),
    ("ResourceArn", "{}"),
    ("Name", "{}"),
    ("SubscriptionArn", "{}"),
)


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the topic of a call and the use of its key."""
    for access in _by_parameter(call, action):
        yield access
        if access.resource:
            uses = key_use_of_topic(access.resource, access.action)
            yield from (Access(*use) for use in uses)


SERVICE = Service(
    "sns",
    endpoint="sns",
    throttle=ErrorCode("Throttled", 429),
    resources=list_resources,
    operations=("subscriptions",),
    actions={"PublishBatch": "Publish"},
    denial=ErrorCode("AuthorizationError", 403),
    key_error=lambda flaw: AwsError(
        f"KMS{flaw.plain.removesuffix('Exception')}", flaw.says, status=400
    ),
    policies=Policies(
        "InvalidParameter",
        "Invalid parameter: Policy Error: PrincipalNotFound",
        {
            "CreateTopic": ("Attributes", "Policy"),
            "SetTopicAttributes": ("AttributeValue",),  # of other attributes it has no principals
        },
    ),
    contents={"Publish": ("Message",), "PublishBatch": ("PublishBatchRequestEntries",)},
    moto=Moto(
        keeps=(
            "AddPermission ConfirmSubscription CreateTopic Publish PublishBatch "
            "SetSubscriptionAttributes SetTopicAttributes TagResource Unsubscribe"
        ),
    ),
    ignored={
        "Subscribe": "ReturnSubscriptionArn",
    },
)
