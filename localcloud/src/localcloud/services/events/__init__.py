"""EventBridge: the events of localcloud's services go to the topics of moto's rules."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.services.events.iam_resources import list_resources

SERVICE = Service(
    "events",
    endpoint="events",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("rules",),
    moto=Moto(
        keeps="DisableRule EnableRule PutRule TagResource TestEventPattern",
    ),
)
