"""Route 53: moto keeps the zones; private ones answer in their VPCs only."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "route53",
    endpoint=None,
    throttle=ErrorCode("Throttling", 400),
    resources=by_action,
    operations=("zones",),
    changes_network=True,
    moto=Moto(
        keeps="ChangeTagsForResource UpdateHostedZoneComment",
    ),
)
