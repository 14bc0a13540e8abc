"""Route 53: moto keeps the zones; private ones answer in their VPCs only."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import Access
from localcloud.services.route53.changes import CHANGE_ID, awaits_change


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the action alone, and the look at the change that follows if the caller waits for it.

    The ids of zones are in the paths of calls, not known here.
    """
    yield Access(action, None)
    if awaits_change(call):
        yield Access("route53:GetChange", f"arn:aws:route53:::{CHANGE_ID.strip('/')}")


SERVICE = Service(
    "route53",
    endpoint=None,
    throttle=ErrorCode("Throttling", 400),
    resources=list_resources,
    operations=("zones",),
    changes_network=True,
    moto=Moto(
        keeps="ChangeTagsForResource UpdateHostedZoneComment",
    ),
)
