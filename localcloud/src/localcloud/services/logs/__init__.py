"""CloudWatch Logs: moto keeps groups and streams; keys and searches are answered here."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import Access, arn_of


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the stream of a call, or its group with an empty name of a stream."""
    group = call.params.get("logGroupName") or call.params.get("logGroupNamePrefix")
    stream = call.params.get("logStreamName", "")
    end = "log-group:{}:log-stream:" + stream
    yield Access(action, arn_of(call, group, end) if group else None)


SERVICE = Service(
    "logs",
    endpoint="logs",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("embedded_metrics", "keys", "search", "subscription_filters"),
    moto=Moto(
        keeps="CreateLogStream TagLogGroup TagResource",
        ignores="PutResourcePolicy PutRetentionPolicy",
    ),
    ignored={
        "AssociateKmsKey": "resourceIdentifier",
        "CreateLogGroup": "deletionProtectionEnabled logGroupClass",
        "FilterLogEvents": "interleaved startFromHead unmask",
        "PutLogEvents": "entity",
        "PutSubscriptionFilter": "applyOnTransformedLogs emitSystemFields fieldSelectionCriteria",
    },
)
