"""DynamoDB Streams is moto's."""

from __future__ import annotations

from localcloud.door.service import Service
from localcloud.identity.access import by_parameter

SERVICE = Service(
    "dynamodbstreams",
    endpoint="dynamodb",
    throttle=None,
    resources=by_parameter(("StreamArn", "{}")),
    signing_names=("dynamodb",),
    claims=lambda request: request.headers.get("X-Amz-Target", "").startswith("DynamoDBStreams_"),
    prefix="dynamodb",
)
